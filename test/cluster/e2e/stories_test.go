package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const (
	met        = batchv1.JobReasonSuccessPolicy
	reached    = batchv1.JobReasonCompletionsReached
	ruleReason = batchv1.JobReasonPodFailurePolicy + "_"
)

// stories holds the ending of each Job of each file in examples/stories.
var stories = map[string]map[string]ending{
	"kep-2307-finished-pods-may-go":                {"photo-thumbnails": complete(reached, completionsReached, 4, 1, "", 5)},
	"kep-3329-story-1-a-bug-fails-the-job":         {"protein-folding": failure(ruleReason+"0", containerFailed("fold", "1.1", 134, 0), 1, 2, "0", 3)},
	"kep-3329-story-2-disruptions-do-not-count":    {"tenant-notebook-run": complete(reached, completionsReached, 2, 0, "0,1", 3)},
	"kep-3329-story-3-few-disruptions-and-no-bugs": {"tenant-training-run": failure(ruleReason+"1", containerFailed("train", "2.1", 1, 1), 2, 2, "0,1", 4)},
	"kep-3850-story-1-one-retry-per-suite": {"nightly-suites": failure(
		batchv1.JobReasonFailedIndexes, someIndexesFailed, 9, 3, "0-6,8,9", 12).withFailedIndexes("7")},
	"kep-3850-story-2-no-retry-for-exit-code-42": {"nightly-suites-strict": failure(
		batchv1.JobReasonFailedIndexes, someIndexesFailed, 9, 2, "0-3,5-9", 11).withFailedIndexes("4")},
	"kep-3850-story-3-stop-when-most-suites-fail": {"nightly-suites-broken-build": failure(
		batchv1.JobReasonMaxFailedIndexesExceeded, tooManyFailed, 0, 16, "", 16).withFailedIndexes("0-5")},
	"kep-3939-story-1-one-trainer-per-index":             {"tf-training": complete(reached, completionsReached, 2, 1, "0,1", 3).withFailedIndexes("")},
	"kep-3939-story-2-no-more-than-two-at-a-time":        {"render-frames": complete(reached, completionsReached, 4, 0, "", 4)},
	"kep-3939-story-3-terminating-pods-hold-quota":       {"batch-simulation": complete(reached, completionsReached, 3, 0, "0-2", 6).afterResume()},
	"kep-3998-story-1-the-leader-decides":                {"mpi-benchmark": complete(met, "Matched rules at index 0", 1, 0, "0", 10)},
	"kep-3998-story-2-the-leader-or-five-workers":        {"fluid-simulation": complete(met, "Matched rules at index 1", 5, 0, "1-5", 10)},
	"kep-3998-more-1-lingering-pods-finish-their-sample": {"monte-carlo-samples": complete(met, "Matched rules at index 0", 3, 0, "0-2", 6)},
	"kep-3998-more-2-which-rule-was-met":                 {"spark-like-query": complete(met, "Matched rules at index 1", 3, 0, "1-3", 4)},
	"kep-4443-story-1-the-reason-names-the-exit-code":    {"training-workers-0": failure(ruleReason+"ExitCode2", containerFailed("main", "x.1", 2, 0), 0, 1, "", 1)},
	"kep-4443-story-2-leave-it-or-restart-it": {
		"simulation-bad-parameters": failure(ruleReason+"ExitCode2", containerFailed("main", "x.1", 2, 0), 0, 1, "", 1),
		"simulation-bad-luck":       failure(ruleReason+"ExitCode3", containerFailed("main", "x.1", 3, 1), 0, 1, "", 1),
	},
}

// play applies a story, carries out its user's actions, and checks the ending of each of its Jobs. The number of pods of
// a Job with a success policy does not depend on the machine's load.
func play(t *testing.T, file string, user func(t *testing.T, ns string), changes ...func(*batchv1.Job)) (ns string) {
	t.Helper()
	ns = namespace(t)
	for _, job := range load(t, "stories/"+file+".yaml") {
		if job.Spec.SuccessPolicy != nil {
			createTogether(t, ns, job, changes...)
		} else {
			create(t, ns, job, changes...)
		}
	}
	if user != nil {
		user(t, ns)
	}
	for name, want := range stories[file] {
		untilEnd(t, ns, name, want)
	}
	return ns
}

// createTogether creates a Job whose pods end only once all of them run, however long their creation takes.
func createTogether(t *testing.T, ns string, job *batchv1.Job, changes ...func(*batchv1.Job)) {
	t.Helper()
	times := withoutEnd(&job.Spec)
	create(t, ns, job, changes...)
	endTogether(t, ns, job.Name, int(*job.Spec.Parallelism), times)
}

// withoutEnd makes the pods of a Job run until endTogether sets the returned run times.
func withoutEnd(spec *batchv1.JobSpec) (times map[string]string) {
	times = map[string]string{}
	maps.DeleteFunc(spec.Template.Annotations, func(key, value string) bool {
		isTime := strings.HasPrefix(key, runTimeKey)
		if isTime {
			times[key] = value
		}
		return isTime
	})
	spec.Template.Annotations[runTimeKey] = "1h"
	return times
}

// endTogether waits until n pods of a Job run, and sets their run times.
func endTogether(t *testing.T, ns, name string, n int, times map[string]string) {
	t.Helper()
	for _, pod := range untilRunning(t, ns, name, n) {
		annotate(t, pod, times)
	}
}

// annotate sets annotations of a pod, unless it is gone: an earlier pod may have made its Job succeed.
func annotate(t *testing.T, pod *corev1.Pod, annotations map[string]string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	assert.NoError(t, err)
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// The README contains each story with its ending, each file is a story known to the tests, and our controller manages
// each.
func TestStoriesAreDocumented(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../examples/README.md")
	assert.NoError(t, err)
	paths, err := filepath.Glob("../../../examples/stories/*.yaml")
	if err != nil || len(paths) != len(stories) {
		t.Fatalf("%d files, %d stories, %v", len(paths), len(stories), err)
	}
	for _, path := range paths {
		file := strings.TrimSuffix(filepath.Base(path), ".yaml")
		row := ""
		for line := range strings.Lines(string(readme)) {
			if strings.Contains(line, "(stories/"+file+".yaml)") {
				row = line
			}
		}
		var names []string
		for _, job := range load(t, "stories/"+file+".yaml") {
			names = append(names, job.Name)
			end := stories[file][job.Name]
			if !strings.Contains(row, "`"+string(end.terminal)+"`") || !strings.Contains(row, "`"+end.reason+"`") {
				t.Errorf("the README does not say that %s ends %s, %s: %s", job.Name, end.terminal, end.reason, row)
			}
			if ptr.Deref(job.Spec.ManagedBy, "") != "batchjob.dev/controller" {
				t.Errorf("%s is managed by %s", job.Name, ptr.Deref(job.Spec.ManagedBy, "nobody"))
			}
		}
		assert.SlicesEqual(t, slices.Sorted(slices.Values(names)), slices.Sorted(maps.Keys(stories[file])), file, names)
	}
}

// withUser lists the stories with user actions; each has a test of its own.
var withUser = []string{
	"kep-2307-finished-pods-may-go", "kep-3939-story-1-one-trainer-per-index",
	"kep-3939-story-2-no-more-than-two-at-a-time", "kep-3939-story-3-terminating-pods-hold-quota",
}

// The other stories only run, and end as documented in the README.
// Requirements: PFP-16, BLI-37, SUC-23, PFN-30, PFN-31, PFN-32
func TestStoriesEndAsDocumented(t *testing.T) {
	t.Parallel()
	for file := range stories {
		if !slices.Contains(withUser, file) {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				play(t, file, nil)
			})
		}
	}
}

// KEP-2307: finished pods are deleted as soon as they are seen (TRK-27, TRK-13).
func TestFinishedPodsMayBeDeletedAtOnce(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-2307-finished-pods-may-go", func(t *testing.T, ns string) {
		deleted := map[string]bool{}
		past.until(t, "four pods that were deleted after their end", func() bool {
			for _, pod := range past.pods(ns, "photo-thumbnails") {
				if history.HasEnded(pod) && !deleted[pod.Name] {
					deletePod(t, pod, 0)
					deleted[pod.Name] = true
				}
			}
			return len(deleted) >= 4
		})
	})
	if left := pods(t, ns, "photo-thumbnails"); len(left) > 1 {
		t.Errorf("%d pods are left, and all but the last were deleted", len(left))
	}
}

// KEP-3939, story 1: worker 0 is deleted, and is not replaced until it has ended (the verdict of the run checks this for
// every pod of every Job).
// Requirements: PRP-24
func TestOneTrainerRunsPerIndex(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-3939-story-1-one-trainer-per-index", func(t *testing.T, ns string) {
		untilCounts(t, ns, "tf-training", counts{active: 2})
		for _, pod := range untilRunning(t, ns, "tf-training", 2) {
			if history.IndexOf(pod) == 0 {
				deletePod(t, pod, 30)
			}
		}
	})
	wantInOrder(t, ns, "tf-training", counts{active: 2}, counts{active: 1, terminating: 1}, counts{failed: 1})
}

// KEP-3939, story 2: a renderer is deleted, and ends with success; there are never more than two pods at once, and no
// fifth pod.
// Requirements: PRP-24
func TestNoMoreThanTwoRenderersRun(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-3939-story-2-no-more-than-two-at-a-time", func(t *testing.T, ns string) {
		untilCounts(t, ns, "render-frames", counts{active: 2})
		deletePod(t, untilRunning(t, ns, "render-frames", 2)[0], 30)
	})
	wantInOrder(t, ns, "render-frames", counts{active: 2}, counts{active: 1, terminating: 1}, counts{active: 2})
}

// KEP-3939, story 3: a queue suspends the Job. terminating is positive until the last pod is gone, and a resume in
// between starts no pod (PRP-13).
// Requirements: PRP-24
func TestTerminatingPodsHoldQuota(t *testing.T) {
	t.Parallel()
	const name = "batch-simulation"
	var times map[string]string
	ns := play(t, "kep-3939-story-3-terminating-pods-hold-quota", func(t *testing.T, ns string) {
		untilCounts(t, ns, name, counts{active: 3})
		untilRunning(t, ns, name, 3)
		patchJob(t, ns, name, `{"spec":{"suspend":true}}`)
		if job := untilCounts(t, ns, name, counts{terminating: 3}); history.Condition(job, batchv1.JobSuspended) == nil {
			t.Errorf("nothing is active, and the conditions are %q", conditionsOf(job))
		}
		patchJob(t, ns, name, `{"spec":{"suspend":false}}`)
		endTogether(t, ns, name, 3, times)
	}, func(j *batchv1.Job) { times = withoutEnd(&j.Spec) })
	wantInOrder(t, ns, name, counts{active: 3}, counts{terminating: 3}, counts{active: 3})
	// The status that the queue reads never frees the place of an existing pod. A pod that was created since the counts
	// last changed may be missing in them.
	running, known, before := map[string]bool{}, map[string]bool{}, counts{}
	for _, v := range past.of(ns, name) {
		if v.Pod != nil && (v.Gone || history.HasEnded(v.Pod)) {
			delete(running, v.Pod.Name)
			delete(known, v.Pod.Name)
			continue
		}
		if v.Pod != nil {
			running[v.Pod.Name] = true
			continue
		}
		if c := countsOf(v.Job); c != before {
			if v.Job.Status.Ready != nil && int(c.active+c.terminating) < len(known) {
				t.Errorf("the status says %+v, and %d pods have not ended", c, len(known))
			}
			before, known = c, maps.Clone(running)
		}
	}
}
