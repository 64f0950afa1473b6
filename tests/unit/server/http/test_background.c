/* Lanes of background work: turns between owners, the limit of threads per owner, and independence of lanes.
 */
#include "server/http/background.h"
#include "tests/unit/main.h"

#include <semaphore.h>
#include <stddef.h>

/* Work that notes its name in the order in which it begins, and then waits to be let go. */
struct job {
    struct background_work work;
    struct journal *journal;
    char name;
    sem_t go;
};

struct journal {
    char names[16];
    _Atomic size_t count;
    sem_t begun;
};

static void run_job(struct background_work *work) {
    struct job *job = (struct job *)((char *)work - offsetof(struct job, work));
    struct journal *journal = job->journal;
    journal->names[journal->count++] = job->name;
    sem_post(&journal->begun);
    sem_wait(&job->go);
}

static struct background *open_background(struct journal *journal) {
    struct error error = {0};
    struct background *background = background_open(&error);
    ck_assert_msg(background != NULL, "%s", error.message);
    *journal = (struct journal){0};
    sem_init(&journal->begun, 0, 0);
    return background;
}

static void submit(struct background *background, enum background_lane lane, struct job *job,
                   struct journal *journal, char name, const char *owner) {
    *job = (struct job){.work = {.run = run_job, .owner = owner}, .journal = journal, .name = name};
    sem_init(&job->go, 0, 0);
    background_submit(background, lane, &job->work);
}

START_TEST(owners_take_turns_and_work_without_owner_goes_first) {
    static const struct {
        char name;
        const char *owner;
    } submitted[] = {{'a', "greedy"}, {'b', "greedy"}, {'c', "greedy"}, {'d', "other"},
                     {'e', "third"},  {'f', "other"},  {'1', NULL},     {'2', NULL}};
    enum { COUNT = sizeof submitted / sizeof *submitted };
    struct journal journal;
    struct background *background = open_background(&journal);
    struct job first, jobs[COUNT];
    submit(background, BACKGROUND_SLOW_LECTURER, &first, &journal, '0', "greedy");
    sem_wait(&journal.begun); /* occupies the lane's only thread */
    for (size_t i = 0; i < COUNT; i++) {
        submit(background, BACKGROUND_SLOW_LECTURER, &jobs[i], &journal, submitted[i].name,
               submitted[i].owner);
        sem_post(&jobs[i].go);
    }
    sem_post(&first.go);
    background_close(background);
    ck_assert_str_eq(journal.names, "012adebfc");
}
END_TEST

START_TEST(one_owner_leaves_a_thread_to_the_others) {
    struct journal journal;
    struct background *background = open_background(&journal);
    struct job jobs[4];
    for (size_t i = 0; i < 3; i++)
        submit(background, BACKGROUND_SLOW, &jobs[i], &journal, (char)('a' + i), "greedy");
    submit(background, BACKGROUND_SLOW, &jobs[3], &journal, 'z', "other");
    sem_wait(&journal.begun);
    sem_wait(&journal.begun);
    ck_assert_uint_eq(journal.count, 2); /* nobody is let go before, so both run at once */
    ck_assert_ptr_nonnull(strchr(journal.names, 'a'));
    ck_assert_ptr_nonnull(strchr(journal.names, 'z'));
    for (size_t i = 0; i < 4; i++)
        sem_post(&jobs[i].go);
    background_close(background);
    ck_assert_uint_eq(journal.count, 4);
}
END_TEST

START_TEST(slow_work_holds_up_neither_quick_work_nor_the_lecturers) {
    struct journal journal;
    struct background *background = open_background(&journal);
    struct job slow[2], quick, lecturers;
    submit(background, BACKGROUND_SLOW, &slow[0], &journal, 's', "one");
    submit(background, BACKGROUND_SLOW, &slow[1], &journal, 's', "two");
    sem_wait(&journal.begun);
    sem_wait(&journal.begun);
    submit(background, BACKGROUND_QUICK, &quick, &journal, 'q', "one");
    sem_wait(&journal.begun); /* a failure is a test that does not end in time */
    submit(background, BACKGROUND_SLOW_LECTURER, &lecturers, &journal, 'l', NULL);
    sem_wait(&journal.begun);
    ck_assert_str_eq(journal.names, "ssql");
    sem_post(&slow[0].go);
    sem_post(&slow[1].go);
    sem_post(&quick.go);
    sem_post(&lecturers.go);
    background_close(background);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, owners_take_turns_and_work_without_owner_goes_first);
    tcase_add_test(tests, one_owner_leaves_a_thread_to_the_others);
    tcase_add_test(tests, slow_work_holds_up_neither_quick_work_nor_the_lecturers);
}
