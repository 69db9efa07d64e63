package lint

import (
	corev1 "k8s.io/api/core/v1"
)

// checkBackoffLimits checks both limits together: backoffLimit counts the failures of all indexes, and is checked
// first (KEP-3850).
func checkBackoffLimits(r *review) {
	total, perIndex := r.spec.BackoffLimit, r.spec.BackoffLimitPerIndex
	completions, known := r.completions()
	if total == nil || perIndex == nil || !known || *total < 0 || *perIndex < 0 {
		return
	}
	if most := int64(completions) * (int64(*perIndex) + 1); int64(*total) >= most {
		r.add(Info, "both-limits", r.specPath(backoffPath), "remove backoffLimit",
			"backoffLimit is never exceeded: the indexes can fail at most %d times in total", most)
		return
	}
	r.add(Warning, "both-limits", r.specPath(backoffPath), "remove backoffLimit, or raise it",
		"backoffLimit takes precedence: failure %d, in any index, fails the whole Job even if indexes have retries left", int64(*total)+1)
}

func checkBackoffLimitPerIndex(r *review) {
	if r.spec.BackoffLimitPerIndex == nil {
		return
	}
	path := r.specPath(backoffPerIndexPath)
	if !r.indexed() {
		r.reject("limit-per-index-without-indexes", path, "set completionMode: Indexed, or use backoffLimit", "backoffLimitPerIndex needs an Indexed Job")
	}
	// D-16: the KEP excludes it, API servers accept it.
	if r.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		r.add(Warning, "limit-per-index-on-failure", path, "change restartPolicy to Never",
			"with restartPolicy OnFailure, containers restart in their pod, and those failures do not count against the index")
	}
}

func checkMaxFailedIndexes(r *review) {
	limit := r.spec.MaxFailedIndexes
	if limit == nil {
		return
	}
	path := r.specPath(maxFailedPath)
	if r.spec.BackoffLimitPerIndex == nil {
		r.reject("max-failed-without-limit-per-index", r.specPath(backoffPerIndexPath), "add backoffLimitPerIndex", "maxFailedIndexes needs backoffLimitPerIndex")
	}
	if !r.indexed() {
		r.reject("max-failed-without-indexes", path, "set completionMode: Indexed, or remove maxFailedIndexes", "maxFailedIndexes needs an Indexed Job")
		return
	}
	completions, known := r.completions()
	switch {
	case known && *limit > completions:
		r.reject("max-failed-above-completions", path, "use a value below completions", "maxFailedIndexes is %d, but there are only %d indexes", *limit, completions)
	case known && *limit == completions && completions > 0:
		r.add(Warning, "max-failed-never-exceeded", path, "use a value below completions, or remove it", "at most %d indexes can fail, because there are no more", *limit)
	}
}

func checkMaxFailedIndexesLimits(r *review) {
	if !r.indexed() {
		return
	}
	path, limit := r.specPath(maxFailedPath), r.spec.MaxFailedIndexes
	if limit != nil && *limit > maxFailedIndexes {
		r.reject("max-failed-too-high", path, "lower it", "maxFailedIndexes is %d, but at most %d is allowed", *limit, maxFailedIndexes)
		return
	}
	if completions, _ := r.completions(); completions <= manyCompletions || r.spec.BackoffLimitPerIndex == nil {
		return
	}
	switch {
	case limit == nil:
		r.reject("max-failed-missing", path, "add maxFailedIndexes", "maxFailedIndexes is required with backoffLimitPerIndex and more than %d completions", manyCompletions)
	case *limit > maxFailedMany:
		r.reject("max-failed-too-high", path, "lower it", "maxFailedIndexes is %d, but at most %d is allowed with more than %d completions", *limit, maxFailedMany, manyCompletions)
	}
}
