// Four models on one task: the label is the sign of the first of sixty numbers. A comparison trains every
// chosen model with every seed; curves move, the table fills in, and attention shows where it learnt to look.

import { createAlert } from '../shared/alert.js';
import { get, isOver, post } from '../shared/api.js';
import { createAttentionView } from '../shared/attention-view.js';
import { createChart } from '../shared/chart.js';
import { followComparison } from '../shared/comparison.js';
import { createComparisonTable } from '../shared/comparison-table.js';
import { createCurlLine } from '../shared/curl.js';
import { h, oncePerFrame, replaceChildren, uniqueId } from '../shared/dom.js';
import { createExpectations } from '../shared/expectation.js';
import { createProgress } from '../shared/experiment-panel.js';
import { createForm } from '../shared/form.js';
import { fixed, percent } from '../shared/format.js';
import { seriesColor, DASHES } from '../shared/theme.js';

const VARIANTS = [
  { id: 'rnn', label: 'RNN', parameters: { model: 'rnn' } },
  { id: 'lstm', label: 'LSTM', parameters: { model: 'lstm' } },
  { id: 'attention', label: 'attention', parameters: { model: 'attention' } },
  { id: 'unordered', label: 'attention (no position)', parameters: { model: 'attention', position: 'none' } },
];
const DEFAULT_SEEDS = '0, 1, 2';
const NOT_THE_TASK = ['task', 'model', 'position', 'mask', 'seed', 'heads', 'layers', 'feedforward_width', 'activation'];
const CHANCE = 0.5;

export function mount(root, page) {
  const alert = createAlert();
  const curl = createCurlLine();
  const live = createLiveView(page);
  let comparison = null;

  const chosen = page.parameters.get('models')?.split(',') ?? VARIANTS.map((variant) => variant.id);
  const boxes = VARIANTS.map((variant) => h('input', { type: 'checkbox', value: variant.id, checked: chosen.includes(variant.id) }));
  const seedsId = uniqueId('seeds');
  const seedsInput = h('input', { id: seedsId, type: 'text', value: page.parameters.get('seeds')?.replaceAll(',', ', ') ?? DEFAULT_SEEDS, 'aria-describedby': `${seedsId}-help ${seedsId}-error` });
  const seedsError = h('span', { class: 'field-error', role: 'alert', id: `${seedsId}-error` });
  const form = createForm({ schema: page.experiment('train').schema, main: ['epochs'], except: NOT_THE_TASK, situation: 'usual', address: page.parameters, onChange: refresh });
  const runButton = h('button', { type: 'submit', class: 'primary' }, 'Train them');
  const progress = createProgress(async () => {
    try {
      await post(`/api/comparisons/${comparison.id}/cancel`);
    } catch (error) {
      alert.show(error);
    }
  });

  const panel = h('form', { class: 'panel', novalidate: true, onsubmit: (event) => { event.preventDefault(); run(); }, onchange: refresh },
    h('fieldset', null, h('legend', null, 'Models'), h('div', { class: 'choices' }, VARIANTS.map((variant, index) =>
      h('label', null, boxes[index], swatch(index), variant.label)))),
    h('div', { class: 'fields' }, h('div', { class: 'field' },
      h('label', { class: 'field-label', for: seedsId }, 'Seeds'), seedsInput, seedsError,
      h('span', { class: 'field-help', id: `${seedsId}-help` }, 'one run per model and seed: weights and batch order'))),
    form.element,
    h('div', { class: 'actions' }, runButton, progress.element),
    alert.element, curl.element);
  // The seeds stand in one row with the other main field.
  panel.querySelector('.form .fields').prepend(panel.querySelector('.field'));
  panel.querySelector(':scope > .fields').remove();

  const seeds = () => seedsInput.value.split(/[\s,;]+/).filter(Boolean).map((text) => (Number.isFinite(Number(text)) ? Number(text) : text));
  const variants = () => VARIANTS.filter((variant, index) => boxes[index].checked);
  const body = () => ({
    experiment: 'train', seeds: seeds(), variants: variants().map(({ label, parameters }) => ({ label, ...parameters })), ...form.values(),
  });

  function refresh() {
    curl.set('POST', '/api/comparisons', body());
  }

  function remember() {
    const models = variants().map((variant) => variant.id);
    page.remember({
      models: models.length === VARIANTS.length ? null : models, seeds: seedsInput.value === DEFAULT_SEEDS ? null : seeds(), ...form.values(), comparison: comparison?.id,
    });
  }

  function showErrors(error) {
    const others = form.showErrors(error.errors ?? []);
    const ofSeeds = others.find((one) => one.field.startsWith('seeds'));
    seedsError.textContent = ofSeeds?.message ?? '';
    const rest = others.filter((one) => one !== ofSeeds);
    if (!error.errors?.length || rest.length > 0) alert.show(error, rest);
  }

  async function run() {
    alert.clear();
    seedsError.textContent = '';
    form.showErrors([]);
    if (variants().length === 0) return alert.show(new Error('Choose at least one model.'));
    runButton.disabled = true;
    try {
      follow(await post('/api/comparisons', body(), page.signal));
      remember();
    } catch (error) {
      runButton.disabled = false;
      showErrors(error);
    }
    return undefined;
  }

  async function follow(started) {
    comparison = started;
    runButton.disabled = !isOver(started.state);
    progress.show(started.state, started.progress);
    live.begin(started);
    followComparison(started, {
      rows: (newest) => {
        comparison = newest;
        progress.show(newest.state, newest.progress);
        if (isOver(newest.state)) runButton.disabled = false;
        live.rows(newest);
      },
      run: live.run,
      epoch: live.epoch,
      attention: live.attention,
      failed: (error) => alert.show(error),
    }, page.signal);
  }

  async function start() {
    const id = page.parameters.get('comparison');
    if (!id) return;
    try {
      follow(await get(`/api/comparisons/${encodeURIComponent(id)}`, page.signal));
    } catch (error) {
      if (error.status !== 404) alert.show(error);
    }
  }

  root.append(
    h('p', { class: 'lead' }, 'Sixty random numbers; the answer is whether the first of them is positive. All the rest is noise. ' +
      'A recurrent network must carry that one sign through fifty-nine steps. Attention can look straight at it, if it is told which step is which.'),
    panel, live.element, ...story());
  refresh();
  start();
}

const swatch = (index) => {
  const element = h('span', { class: 'swatch', 'aria-hidden': 'true' });
  element.style.backgroundColor = seriesColor(index);
  return element;
};

// Everything that moves while the comparison trains.
function createLiveView(page) {
  const { signal } = page;
  const loss = createChart({ title: 'Training loss', legend: false, signal, x: { label: 'epoch', min: 0 }, y: { label: 'cross-entropy (cut at 1)', min: 0, max: 1, format: (value) => fixed(value, 4) } });
  const accuracy = createChart({ title: 'Test accuracy', legend: false, signal, x: { label: 'epoch', min: 0 }, y: { label: 'share of test examples', min: 0.4, max: 1, format: (value) => fixed(value, 4) } });
  const key = h('div', { class: 'series-key' });
  const table = createComparisonTable('Test accuracy after training (guessing gives 0.5)');
  const attention = createAttentionView({ signal, onChange: (shown) => { attentionShown = shown; updateExpectations(); } });
  const runChoice = h('select', { id: 'attention-run', onchange: () => chooseRun(runChoice.value) });
  const attentionBlock = h('section', { hidden: true, 'aria-labelledby': 'attention-heading' },
    h('h2', { id: 'attention-heading' }, 'Where it looks'),
    h('div', { class: 'slider-row' }, h('label', { for: 'attention-run' }, 'Run'), runChoice), attention.element);
  const expectations = createExpectations(CLAIMS);
  const results = h('div', { hidden: true }, key, h('div', { class: 'pair' }, loss.element, accuracy.element), table.element, attentionBlock);
  const element = h('div', null, results, expectations.element);

  let comparison = null;
  let runs = new Map();
  let shownRun = null;
  let attentionShown = null;
  const hidden = new Set();

  const draw = oncePerFrame(() => {
    const shown = [...runs.values()].filter((entry) => !hidden.has(entry.variant));
    const series = (value) => shown.map((entry) => ({
      label: `${entry.label}, seed ${entry.seed}`, color: entry.color, dash: entry.seedIndex,
      points: entry.epochs.filter((row) => row && value(row) !== null).map((row) => ({ x: row.epoch, y: value(row) })),
    }));
    loss.setSeries(series((row) => row.train_loss));
    accuracy.setSeries(series((row) => row.test_accuracy));
  });

  function drawKey() {
    const entries = [...runs.values()];
    const seeds = [...new Set(entries.map((entry) => entry.seed))];
    replaceChildren(key,
      h('ul', { class: 'legend', 'aria-label': 'Models in the charts' }, comparison.rows.map((row, index) => {
        const button = h('button', { type: 'button', class: 'legend-key', 'aria-pressed': 'true' }, swatch(colorOf(row.label, index)), row.label);
        button.addEventListener('click', () => {
          if (!hidden.delete(index)) hidden.add(index);
          button.setAttribute('aria-pressed', String(!hidden.has(index)));
          draw();
        });
        return h('li', null, button);
      })),
      seeds.length > 1 && h('p', { class: 'hint' }, seeds.slice(0, DASHES.length).map((seed, index) =>
        `${index ? ', ' : ''}${['solid', 'dashed', 'dotted', 'dash-dot', 'short dashes', 'long dashes'][index]}: seed ${seed}`).join('')));
  }

  function chooseRun(id) {
    shownRun = id;
    attention.show({ id }).catch(() => { attentionBlock.hidden = true; });
  }

  function updateExpectations() {
    const seeds = [...runs.values()].map((entry) => entry.seed);
    if (comparison) expectations.update({ comparison, seeds, attention: attentionShown });
  }

  function drawRunChoice() {
    const withAttention = [...runs.entries()].filter(([, entry]) => entry.hasAttention);
    attentionBlock.hidden = withAttention.length === 0;
    replaceChildren(runChoice, withAttention.map(([id, entry]) => h('option', { value: id }, `${entry.label}, seed ${entry.seed}`)));
    if (withAttention.length > 0) chooseRun(withAttention[0][0]);
  }

  return {
    element,
    begin(started) {
      comparison = started;
      runs = new Map();
      attentionShown = null;
      results.hidden = false;
      attentionBlock.hidden = true;
      hidden.clear();
      expectations.clear();
      table.begin(started);
      results.scrollIntoView({ block: 'nearest' });
    },
    rows(newest) {
      comparison = newest;
      table.rows(newest);
      updateExpectations();
    },
    // All runs of the comparison, once known: [{ id, variant, seed, seedIndex, label, parameters, state }].
    run(entries) {
      table.run(entries);
      const longest = Math.max(...entries.map((entry) => entry.parameters.epochs));
      loss.setLast(longest);
      accuracy.setLast(longest);
      const first = runs.size === 0;
      for (const entry of entries) {
        const known = runs.get(entry.id);
        if (known) known.state = entry.state;
        else {
          runs.set(entry.id, { ...entry, epochs: [], color: colorOf(entry.label, entry.variant), hasAttention: ['attention', 'transformer'].includes(entry.parameters.model) });
        }
      }
      if (first) {
        drawKey();
        drawRunChoice();
      }
      draw();
    },
    epoch(id, row) {
      const entry = runs.get(id);
      if (!entry) return;
      entry.epochs[row.epoch] = row;
      table.epoch(id, row);
      draw();
    },
    attention(id, epoch) {
      if (id === shownRun) attention.newEpoch(id, epoch);
    },
  };
}

function colorOf(label, index) {
  const known = VARIANTS.findIndex((variant) => variant.label === label);
  return known >= 0 ? known : index;
}

const rowOf = (comparison, label) => {
  const row = comparison.rows.find((one) => one.label === label);
  return row && row.accuracies.every((value) => value !== null) ? row : null;
};

const CLAIMS = [
  {
    claim: 'Attention with positions gets nearly every example right, whatever the seed.',
    check({ comparison }) {
      const row = rowOf(comparison, 'attention');
      return row && { shown: row.worst >= 0.95, measured: `worst seed ${fixed(row.worst, 4)}`, why: row.worst >= 0.95 ? '' : 'Few epochs, few examples or a small learning rate leave it halfway; a large one throws it out again.' };
    },
  },
  {
    claim: 'Its most attended step is step 0.',
    check({ comparison, attention }) {
      if (!attention || !rowOf(comparison, 'attention')) return null;
      const { mean, epoch } = attention;
      const why = mean.argmax === 0 ? '' : 'The run on view may be the one without positions, or an epoch before it was learnt: before training every step gets about the same.';
      return { shown: mean.argmax === 0, measured: `after epoch ${epoch}: step ${mean.argmax}; step 0 gets ${fixed(mean.first, 4)}, the others ${mean.rest === null ? '\u2013' : mean.rest.toExponential(1)} each`, why };
    },
  },
  {
    claim: 'Without positions attention does no better than guessing.',
    check({ comparison }) {
      const row = rowOf(comparison, 'attention (no position)');
      return row && { shown: row.mean < CHANCE + 0.1, measured: `mean ${percent(row.mean)}`, why: row.mean < CHANCE + 0.1 ? 'A little above one half is no mistake: the average of all numbers contains the first one.' : 'A short sequence gives it away: the average of a few numbers says much about each of them.' };
    },
  },
  {
    claim: 'The LSTM stays near guessing with seeds 0, 1 and 2.',
    check({ comparison, seeds }) {
      const row = rowOf(comparison, 'LSTM');
      return row && seeds.every((seed) => seed <= 2) && { shown: Math.max(...row.accuracies) < 0.7, measured: row.accuracies.map((value) => fixed(value, 3)).join(', '), why: Math.max(...row.accuracies) < 0.7 ? '' : 'A start can happen to find it, above all on a shorter sequence: see the paragraph on seed 7 below.' };
    },
  },
];

function story() {
  return [
    h('section', { class: 'prose' },
      h('h2', null, 'Reading the result'),
      h('p', null, 'Watch the accuracy curves first. Attention with positions stays flat for a few epochs, then climbs within two or three: once a little weight lies on step 0 the gradient there is larger than anywhere else, and the rest follows by itself. ' +
        'Move the slider to watch that happen: from an even grey-blue to one bright column on the left. Nobody told it that the answer is at the start.'),
      h('p', null, 'Attention without positions has the same queries, keys and values, and fails: the average over all steps is the same for every order of its input, so \u201cthe first\u201d means nothing to it. ', h('a', { href: '#permutation' }, 'Shuffling the input'), ' shows this directly.'),
      h('p', null, 'The RNN often gets there, slowly and not with every seed. ', h('a', { href: '#gradient-reach' }, 'How far a gradient reaches'), ' measures why it is so hard for it.')),
    h('section', { class: 'prose' },
      h('h2', null, 'The LSTM that learns with seed 7'),
      h('p', null, 'With seeds 0, 1 and 2 the LSTM ends where it began, at a coin\u2019s accuracy. Enter seed 7 and it learns. Nothing differs but the random start: the same cells, the same data, the same number of steps. ' +
        'At the start the forget gates are near one half, so a sign from step 0 is halved about fifty-nine times before it reaches the answer, and the gradient on its way back is too. Some starts happen to have a cell whose gate is open wide enough that a trace survives; training finds that trace and opens the gate further. The others have nothing to hold on to.'),
      h('p', null, 'So \u201can LSTM cannot do this\u201d would be wrong, and \u201can LSTM can do this\u201d, shown with seed 7 alone, would be wrong too. That is what several seeds, and the column with the worst of them, are for.')),
    h('section', { class: 'prose' },
      h('h2', null, 'About the last digits'),
      h('p', null, 'With one seed this program and PyTorch begin with the same weights, see the same batches, and agree on the first losses to about seven digits. Over sixty steps of recurrence and two thousand updates, rounding grows: the last digits of the RNN\u2019s and the LSTM\u2019s results depend on it, and late in training two equally correct programs, or PyTorch on two machines, can part ways by more than that, as an RNN\u2019s loss jumps at one epoch here and at another there. What a kind of model can do and what it cannot stays the same. ' +
        'Attention has no such chain and ends within a few thousandths. This program always gives the same bits for the same seed on the same machine.')),
  ];
}
