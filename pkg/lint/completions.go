package lint

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/command"
)

const (
	maxParallelism      = 100_000 // of an Indexed Job
	manyCompletions     = 100_000 // above, other limits are stricter
	maxParallelismMany  = 10_000
	maxFailedMany       = 10_000
	maxFailedIndexes    = 100_000
	completionsPath     = "completions"
	parallelismPath     = "parallelism"
	completionModePath  = "completionMode"
	backoffPath         = "backoffLimit"
	backoffPerIndexPath = "backoffLimitPerIndex"
	maxFailedPath       = "maxFailedIndexes"
)

func checkNotNegative(r *review) {
	s := r.spec
	for _, f := range []struct {
		name  string
		value *int32
	}{
		{parallelismPath, s.Parallelism}, {completionsPath, s.Completions}, {backoffPath, s.BackoffLimit},
		{backoffPerIndexPath, s.BackoffLimitPerIndex}, {maxFailedPath, s.MaxFailedIndexes}, {"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished},
	} {
		if f.value != nil && *f.value < 0 {
			r.reject("negative", r.specPath(f.name), "use 0 or more", "%s is %d", f.name, *f.value)
		}
	}
	if deadline := s.ActiveDeadlineSeconds; deadline != nil && *deadline < 0 {
		r.reject("negative", r.specPath("activeDeadlineSeconds"), "use 1 or more", "activeDeadlineSeconds is %d", *deadline)
	}
}

func checkCompletionMode(r *review) {
	if mode := r.spec.CompletionMode; mode != nil {
		r.oneOf("completion-mode-unknown", r.specPath(completionModePath), string(*mode), string(batchv1.NonIndexedCompletion), string(batchv1.IndexedCompletion))
	}
}

func checkCompletionsMissing(r *review) {
	if r.indexed() && r.spec.Completions == nil && !r.countsAreSet() {
		r.reject("completions-missing", r.specPath(completionsPath), "add completions", "an Indexed Job needs completions, the number of its indexes")
	}
}

func checkNoPods(r *review) {
	switch {
	case isZero(r.spec.Completions):
		r.add(Info, "no-completions", r.specPath(completionsPath), "remove completions, or use 1 or more", "with completions 0, the Job completes immediately without running any pods")
	case isZero(r.spec.Parallelism):
		r.add(Info, "no-parallelism", r.specPath(parallelismPath), "use suspend: true to make it wait", "with parallelism 0, the Job starts no pods until parallelism is raised")
	}
}

func isZero(value *int32) bool { return value != nil && *value == 0 }

func checkParallelism(r *review) {
	parallelism, completions := r.spec.Parallelism, r.spec.Completions
	if parallelism == nil {
		return
	}
	path := r.specPath(parallelismPath)
	if completions != nil && *completions > 0 && *parallelism > *completions {
		r.add(Info, "parallelism-above-completions", path, "lower parallelism to completions", "at most %d pods run at a time, one for each completion", *completions)
	}
	if !r.indexed() {
		return
	}
	many := completions != nil && *completions > manyCompletions && *parallelism > maxParallelismMany
	switch {
	case *parallelism > maxParallelism:
		r.reject("parallelism-too-high", path, "lower parallelism", "parallelism is %d, but an Indexed Job allows at most %d", *parallelism, maxParallelism)
	case many && r.spec.BackoffLimitPerIndex != nil:
		r.reject("parallelism-too-high", path, "lower parallelism, or split the Job",
			"parallelism is %d, but at most %d is allowed with backoffLimitPerIndex and more than %d completions", *parallelism, maxParallelismMany, manyCompletions)
	case many:
		r.add(Warning, "status-too-large", path, "lower parallelism to 10000, or split the Job",
			"the list of completed indexes may become too long for the Job's status")
	}
}

// checkIndexUsed finds containers that use the completion index of their pod, which has none.
func checkIndexUsed(r *review) {
	if r.indexed() {
		return
	}
	pod := &r.spec.Template.Spec
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", pod.Containers}, {"initContainers", pod.InitContainers}} {
		for i := range list.containers {
			if place, uses := command.UsesIndex(&list.containers[i]); uses {
				path := r.specPath("template", "spec", list.name).Index(i).Child(place.Field).Index(place.Index)
				r.add(Warning, "index-without-indexed", path, "add completionMode: Indexed, and completions", "only pods of an Indexed Job have JOB_COMPLETION_INDEX: here, it is empty")
			}
		}
	}
}
