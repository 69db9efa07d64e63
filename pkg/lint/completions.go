package lint

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/command"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

func checkNoPods(r *review) {
	switch {
	case isZero(r.spec.Completions):
		r.add(Info, "no-completions", r.specPath("completions"), "remove completions, or use 1 or more", "with completions 0, the Job completes immediately without running any pods")
	case isZero(r.spec.Parallelism):
		r.add(Info, "no-parallelism", r.specPath("parallelism"), "use suspend: true to make it wait", "with parallelism 0, the Job starts no pods until parallelism is raised")
	}
}

func isZero(value *int32) bool { return value != nil && *value == 0 }

func checkParallelism(r *review) {
	parallelism, completions := r.spec.Parallelism, r.spec.Completions
	if parallelism == nil {
		return
	}
	path := r.specPath("parallelism")
	if completions != nil && *completions > 0 && *parallelism > *completions {
		r.add(Info, "parallelism-above-completions", path, "lower parallelism to completions", "there are no more pods at a time than completions, %d", *completions)
	}
	if r.isIndexed() && r.spec.BackoffLimitPerIndex == nil && completions != nil && *completions > jobspec.ManyCompletions && *parallelism > jobspec.MaxOfMany && *parallelism <= jobspec.MaxIndexes {
		r.add(Warning, "status-too-large", path, "lower parallelism to 10000, or split the Job",
			"the list of completed indexes may become too long for the Job's status")
	}
}

// checkIndexUsed finds containers that use the completion index of their pod, which has none.
func checkIndexUsed(r *review) {
	if r.isIndexed() {
		return
	}
	r.eachContainer(func(list string, i int, c *corev1.Container) {
		if place, uses := command.UsesIndex(c); uses {
			path := r.specPath("template", "spec", list).Index(i).Child(place.Field).Index(place.Index)
			r.add(Warning, "index-without-indexed", path, "add completionMode: Indexed, and completions", "only pods of an Indexed Job have JOB_COMPLETION_INDEX: here, it is empty")
		}
	})
}

// checkBackoffLimits checks both limits together: backoffLimit counts the failures of all indexes, and is checked
// first (KEP-3850).
func checkBackoffLimits(r *review) {
	total, perIndex := r.spec.BackoffLimit, r.spec.BackoffLimitPerIndex
	completions, known := r.completions()
	if total == nil || perIndex == nil || !known || *total < 0 || *perIndex < 0 {
		return
	}
	if most := int64(completions) * (int64(*perIndex) + 1); int64(*total) >= most {
		r.add(Info, "both-limits", r.specPath("backoffLimit"), "remove backoffLimit",
			"backoffLimit is never exceeded: the indexes can fail at most %d times in total", most)
		return
	}
	r.add(Warning, "both-limits", r.specPath("backoffLimit"), "remove backoffLimit, or raise it",
		"backoffLimit takes precedence: failure %d, in any index, fails the whole Job even if indexes have retries left", int64(*total)+1)
}

// checkLimitPerIndex finds restarts that do not count against an index. D-16: the KEP excludes them, API servers accept them.
func checkLimitPerIndex(r *review) {
	if r.spec.BackoffLimitPerIndex != nil && r.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		r.add(Warning, "limit-per-index-on-failure", r.specPath("backoffLimitPerIndex"), "change restartPolicy to Never",
			"with restartPolicy OnFailure, containers restart in their pod, and those failures do not count against the index")
	}
}

func checkMaxFailedIndexes(r *review) {
	limit := r.spec.MaxFailedIndexes
	if completions, known := r.completions(); limit != nil && known && *limit == completions && completions > 0 && completions <= jobspec.MaxIndexes {
		r.add(Warning, "max-failed-never-exceeded", r.specPath("maxFailedIndexes"), "use a value below completions, or remove it", "at most %d indexes can fail, because there are no more", *limit)
	}
}
