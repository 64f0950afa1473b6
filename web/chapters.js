// The table of chapters, in the order of the page.

const chapter = (id, title, summary) => ({ id, title, summary, load: () => import(`./chapters/${id}.js`) });

export const chapters = [
    chapter(
        "four-models",
        "Four models, one task",
        "An RNN, an LSTM and attention with and without positions learn where the answer is, live.",
    ),
    chapter(
        "attention-steps",
        "Attention, step by step",
        "Scores, scale, mask, softmax, output: every matrix with its numbers, and yours to change.",
    ),
    chapter(
        "running-average",
        "A running average, three ways",
        "A loop, a triangular matrix and a softmax of a mask give the same numbers.",
    ),
    chapter("scaling", "Why the scores are scaled", "What wide vectors do to a softmax, and what the factor repairs."),
    chapter(
        "gradient-reach",
        "How far a gradient reaches",
        "The learning signal at every input step, on an axis that spans twelve powers of ten.",
    ),
    chapter(
        "permutation",
        "Shuffling the input",
        "Without positions attention sees a set. Two tasks: one does not mind, one fails.",
    ),
    chapter("cost", "What attention costs", "Time and memory against sequence length, measured on this machine."),
    chapter(
        "transformer-block",
        "The transformer block",
        "Its parts, their shapes and parameters, and why blocks can be stacked.",
    ),
    chapter(
        "sentences",
        "Attention on sentences",
        "A transformer learns to judge reviews; did it look at the word that decides?",
    ),
    chapter("sentiment", "Type a sentence", "A trained model reads along as you type and shows where it looks."),
    chapter("own-data", "Your own data", "Bring sentences or sequences of numbers and train on them."),
    chapter(
        "retrieval",
        "A network somebody else trained",
        "MobileNetV2 finds similar pictures it was never trained on.",
    ),
    chapter("reference", "Tables to keep", "Attention against recurrence, the price of length, the parts, the words."),
];

export const extraPages = [chapter("runs", "All runs", "Everything this server has computed or is computing.")];
