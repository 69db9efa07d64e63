package e2e

import (
	"context"
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
	"sigs.k8s.io/yaml"
)

const (
	met        = batchv1.JobReasonSuccessPolicy
	reached    = batchv1.JobReasonCompletionsReached
	ruleReason = batchv1.JobReasonPodFailurePolicy + "_"
)

// stories is how each Job of each file in examples/stories ends.
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

// play applies a story, does what its user does meanwhile, and checks the end of each of
// its Jobs. How many pods a Job with a success policy has does not depend on how busy the
// machine is.
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

// createTogether creates a Job whose pods end only once all of them run, however long their
// creation takes.
func createTogether(t *testing.T, ns string, job *batchv1.Job, changes ...func(*batchv1.Job)) {
	t.Helper()
	times := withoutEnd(&job.Spec)
	create(t, ns, job, changes...)
	endTogether(t, ns, job.Name, int(*job.Spec.Parallelism), times)
}

// withoutEnd makes the pods of a Job run until endTogether gives them the run times that it returns.
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

// endTogether waits until n pods of a Job run, and gives them their run times.
func endTogether(t *testing.T, ns, name string, n int, times map[string]string) {
	t.Helper()
	for _, pod := range untilRunning(t, ns, name, n) {
		annotate(t, pod, times)
	}
}

// annotate sets annotations of a pod, unless it is gone: an earlier one may have made its Job succeed.
func annotate(t *testing.T, pod *corev1.Pod, annotations map[string]string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// Each story is in the README with its end, each file is a story that a test knows, and
// each is managed by our controller.
func TestStoriesAreDocumented(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../../examples/stories/*.yaml")
	if err != nil || len(paths) != len(stories) {
		t.Fatalf("%d files, %d stories, %v", len(paths), len(stories), err)
	}
	tests, err := os.ReadFile("stories_test.go")
	if err != nil {
		t.Fatal(err)
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
		if want := slices.Sorted(maps.Keys(stories[file])); !slices.Equal(slices.Sorted(slices.Values(names)), want) {
			t.Errorf("%s holds the Jobs %v, and the tests expect %v", file, names, want)
		}
		if !strings.Contains(string(tests), `(t, "`+file+`", `) {
			t.Errorf("no test plays %s", file)
		}
	}
}

// KEP-2307: finished pods are deleted as soon as they are seen (TRK-27, TRK-13).
func TestFinishedPodsMayBeDeletedAtOnce_TRK_27_TRK_13(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-2307-finished-pods-may-go", func(t *testing.T, ns string) {
		deleted := map[string]bool{}
		past.until(t, "four pods that were deleted after their end", func() bool {
			for _, pod := range past.pods(ns, "photo-thumbnails") {
				if hasEnded(pod) && !deleted[pod.Name] {
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

// KEP-3329, story 1: exit code 41 is retried, 134 ends the Job.
func TestBugsFailTheJob_PFP_16(t *testing.T) {
	t.Parallel()
	play(t, "kep-3329-story-1-a-bug-fails-the-job", nil)
}

// KEP-3329, stories 2 and 3: whom a disruption counts against.
func TestDisruptionsCountAsTheRulesSay_PFP_16(t *testing.T) {
	t.Parallel()
	t.Run("ignored", func(t *testing.T) {
		t.Parallel()
		ns := play(t, "kep-3329-story-2-disruptions-do-not-count", nil)
		wantDisrupted(t, ns, "tenant-notebook-run", "TerminationByKubelet", 1)
	})
	t.Run("counted", func(t *testing.T) {
		t.Parallel()
		ns := play(t, "kep-3329-story-3-few-disruptions-and-no-bugs", nil)
		wantDisrupted(t, ns, "tenant-training-run", "TerminationByKubelet", 1)
	})
}

// wantDisrupted checks how many pods failed with DisruptionTarget, by whom.
func wantDisrupted(t *testing.T, ns, job, reason string, n int) {
	t.Helper()
	disrupted := 0
	for _, pod := range past.pods(ns, job) {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == reason && pod.Status.Phase == corev1.PodFailed {
				disrupted++
				if c.Message == "null" {
					t.Errorf("%s: the message of the condition is %q", pod.Name, c.Message)
				}
			}
		}
	}
	if disrupted != n {
		t.Errorf("%s: %d pods failed by %s, want %d", job, disrupted, reason, n)
	}
}

// KEP-3850, stories 1 to 3.
func TestSuitesAreRetriedPerIndex_BLI_37(t *testing.T) {
	t.Parallel()
	t.Run("one retry per suite", func(t *testing.T) {
		t.Parallel()
		ns := play(t, "kep-3850-story-1-one-retry-per-suite", nil)
		// A failing suite did not hold up the others: they were done before it was retried.
		first := untilJob(t, ns, "nightly-suites", "eight suites done", func(j *batchv1.Job) bool { return j.Status.CompletedIndexes == "0-2,4-6,8,9" })
		if *first.Status.FailedIndexes != "" || condition(first, batchv1.JobFailureTarget) != nil {
			t.Errorf("with eight suites done: %+v", first.Status)
		}
	})
	t.Run("no retry for 42", func(t *testing.T) {
		t.Parallel()
		ns := play(t, "kep-3850-story-2-no-retry-for-exit-code-42", nil)
		failedAt := untilJob(t, ns, "nightly-suites-strict", "suite 4 failed", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.FailedIndexes, "") == "4" })
		if failedAt.Status.CompletedIndexes == "0-3,5-9" {
			t.Error("suite 4 was retried before it failed")
		}
	})
	t.Run("stop with the sixth", func(t *testing.T) {
		t.Parallel()
		ns := play(t, "kep-3850-story-3-stop-when-most-suites-fail", nil)
		five := untilJob(t, ns, "nightly-suites-broken-build", "five failed suites", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.FailedIndexes, "") == "0-4" })
		if condition(five, batchv1.JobFailureTarget) != nil || five.Status.Active != 5 {
			t.Errorf("with five failed suites: %+v", five.Status)
		}
	})
}

// KEP-3939, story 1: worker 0 is deleted, and has no successor until it has ended
// (the verdict of the run checks every pod of every Job for that).
func TestOneTrainerRunsPerIndex_PRP_24(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-3939-story-1-one-trainer-per-index", func(t *testing.T, ns string) {
		untilCounts(t, ns, "tf-training", counts{active: 2})
		for _, pod := range untilRunning(t, ns, "tf-training", 2) {
			if indexOf(pod) == 0 {
				deletePod(t, pod, 30)
			}
		}
	})
	wantInOrder(t, ns, "tf-training", counts{active: 2}, counts{active: 1, terminating: 1}, counts{failed: 1})
}

// PRP-21: a single pod needs five seconds to end. First there is nothing but that pod,
// which has not failed yet, then nothing but its successor.
func TestReplacementWaitsForTheEnd_PRP_21(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, indexedJob(1, 1, map[string]string{"run-time": "1h", "termination-time": "5s"}, func(s *batchv1.JobSpec) {
		s.CompletionMode, s.PodReplacementPolicy = nil, ptr.To(batchv1.Failed)
	}))
	untilCounts(t, ns, "job", counts{active: 1})
	deletePod(t, untilRunning(t, ns, "job", 1)[0], 30)
	untilCounts(t, ns, "job", counts{active: 1, failed: 1})
	wantInOrder(t, ns, "job", counts{active: 1}, counts{terminating: 1}, counts{active: 1, failed: 1})
	for _, job := range past.job(ns, "job") {
		if c := countsOf(job); c.active+c.terminating > 1 || c.failed > 0 && c.terminating > 0 {
			t.Errorf("the status was %+v", c)
		}
	}
}

// KEP-3939, story 2: a renderer is deleted, and ends with success; there are never
// more than two pods, and no fifth.
func TestNoMoreThanTwoRenderersRun_PRP_24(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-3939-story-2-no-more-than-two-at-a-time", func(t *testing.T, ns string) {
		untilCounts(t, ns, "render-frames", counts{active: 2})
		deletePod(t, untilRunning(t, ns, "render-frames", 2)[0], 30)
	})
	wantInOrder(t, ns, "render-frames", counts{active: 2}, counts{active: 1, terminating: 1}, counts{active: 2})
}

// KEP-3939, story 3: a queue suspends the Job. terminating holds until the last pod is
// gone, and a resume in between starts no pod (PRP-13).
func TestTerminatingPodsHoldQuota_PRP_24(t *testing.T) {
	t.Parallel()
	const name = "batch-simulation"
	var times map[string]string
	ns := play(t, "kep-3939-story-3-terminating-pods-hold-quota", func(t *testing.T, ns string) {
		untilCounts(t, ns, name, counts{active: 3})
		untilRunning(t, ns, name, 3)
		patchJob(t, ns, name, `{"spec":{"suspend":true}}`)
		if job := untilCounts(t, ns, name, counts{terminating: 3}); condition(job, batchv1.JobSuspended) == nil {
			t.Errorf("nothing is active, and the conditions are %q", conditionsOf(job))
		}
		patchJob(t, ns, name, `{"spec":{"suspend":false}}`)
		endTogether(t, ns, name, 3, times)
	}, func(j *batchv1.Job) { times = withoutEnd(&j.Spec) })
	wantInOrder(t, ns, name, counts{active: 3}, counts{terminating: 3}, counts{active: 3})
	// What the queue reads never frees room that a pod still has. A pod that was created since the
	// counts last changed may not be in them yet.
	running, known, before := map[string]bool{}, map[string]bool{}, counts{}
	for _, v := range past.of(ns, name) {
		if v.Pod != nil && (v.Gone || hasEnded(v.Pod)) {
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

// KEP-3998, story 1: the leader ends the Job, which waits for its workers to stop.
func TestLeaderDecides_SUC_23(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-3998-story-1-the-leader-decides", nil)
	interim := untilJob(t, ns, "mpi-benchmark", "the criteria met", func(j *batchv1.Job) bool { return condition(j, batchv1.JobSuccessCriteriaMet) != nil })
	if s := interim.Status; isFinished(interim) || s.CompletedIndexes != "0" || s.Succeeded != 1 || countsOf(interim) != (counts{terminating: 9}) {
		t.Errorf("when the criteria were met: %+v", s)
	}
	// The workers had their grace period.
	graceful := map[string]bool{}
	for _, v := range past.of(ns, "mpi-benchmark") {
		if v.Pod != nil && v.Pod.DeletionTimestamp != nil && ptr.Deref(v.Pod.DeletionGracePeriodSeconds, 0) == 30 && !hasEnded(v.Pod) {
			graceful[v.Pod.Name] = true
		}
	}
	if len(graceful) != 9 {
		t.Errorf("%d workers were given 30 seconds to end, want 9", len(graceful))
	}
}

// KEP-3998, story 2: five workers, or the leader.
func TestLeaderOrFiveWorkersDecide_SUC_23(t *testing.T) {
	t.Parallel()
	t.Run("five workers", func(t *testing.T) {
		t.Parallel()
		play(t, "kep-3998-story-2-the-leader-or-five-workers", nil)
	})
	t.Run("the leader", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t)
		job := load(t, "stories/kep-3998-story-2-the-leader-or-five-workers.yaml")[0]
		job.Spec.Template.Annotations = map[string]string{runTimeKey: "1h", runTimeKey + ".0": "1s"}
		createTogether(t, ns, job)
		untilEnd(t, ns, "fluid-simulation", complete(met, "Matched rules at index 0", 1, 0, "0", 10))
	})
}

// succeededIndexes is text: 0 without quotes is a number, which no API server takes.
func TestIndexWithoutQuotesIsRejected_SUC_23(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	data, err := os.ReadFile("../../examples/stories/kep-3998-story-1-the-leader-decides.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for text, accepted := range map[string]bool{string(data): true, strings.ReplaceAll(string(data), `succeededIndexes: "0"`, `succeededIndexes: 0`): false} {
		body, err := yaml.YAMLToJSON([]byte(text))
		if err != nil || !json.Valid(body) {
			t.Fatal(err)
		}
		err = client.BatchV1().RESTClient().Post().Namespace(ns).Resource("jobs").Param("dryRun", "All").
			SetHeader("Content-Type", "application/json").Body(body).Do(context.Background()).Error()
		if accepted && err != nil || !accepted && !apierrors.IsBadRequest(err) {
			t.Errorf("accepted: %v, want %v", err, accepted)
		}
	}
}

// The additional stories of KEP-3998, as far as the API goes: pods that are stopped may
// finish their work, which is not counted anymore; the message names the rule.
func TestStoppedPodsMayFinishUncounted_SUC_23(t *testing.T) {
	t.Parallel()
	t.Run("lingering pods", func(t *testing.T) {
		t.Parallel()
		ns := play(t, "kep-3998-more-1-lingering-pods-finish-their-sample", nil)
		untilPods(t, ns, "monte-carlo-samples", 6, "succeeded", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	})
	t.Run("which rule", func(t *testing.T) {
		t.Parallel()
		play(t, "kep-3998-more-2-which-rule-was-met", nil)
	})
}

// KEP-4443: a container exits with the code of a rule, and the reason has the rule's name.
func TestReasonNamesTheRule_PFN_32_PFN_30(t *testing.T) {
	t.Parallel()
	t.Run("named", func(t *testing.T) {
		t.Parallel()
		play(t, "kep-4443-story-1-the-reason-names-the-exit-code", nil)
	})
	t.Run("unnamed", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t)
		apply(t, ns, "stories/kep-4443-story-1-the-reason-names-the-exit-code.yaml", func(j *batchv1.Job) { j.Annotations = nil })
		untilEnd(t, ns, "training-workers-0", failure(ruleReason+"0", containerFailed("main", "x.1", 2, 0), 0, 1, "", 1))
	})
}

// KEP-4443, story 2: what runs the Jobs decides by the reason alone.
func TestReasonTellsWhetherToRestart_PFN_31(t *testing.T) {
	t.Parallel()
	ns := play(t, "kep-4443-story-2-leave-it-or-restart-it", nil)
	restart := map[string]bool{ruleReason + "ExitCode2": false, ruleReason + "ExitCode3": true}
	for _, job := range load(t, "stories/kep-4443-story-2-leave-it-or-restart-it.yaml") {
		_, reason := finished(t, ns, job.Name)
		again, known := restart[strings.TrimPrefix(reason, "Failed/")]
		if !known || again != (job.Name == "simulation-bad-luck") {
			t.Errorf("%s ended with %s", job.Name, reason)
		}
		if again {
			// Better luck this time.
			job.Name += "-again"
			job.Spec.Template.Annotations = map[string]string{runTimeKey: "1s"}
			create(t, ns, job)
			untilEnd(t, ns, job.Name, complete(reached, completionsReached, 1, 0, "", 1))
		}
	}
}
