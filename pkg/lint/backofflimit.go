package lint

import corev1 "k8s.io/api/core/v1"

// checkBackoffLimits checks both limits together: backoffLimit counts the failures of all indexes, and is checked
// first (KEP-3850).
func checkBackoffLimits(r *review) {
	total, perIndex := r.spec.BackoffLimit, r.spec.BackoffLimitPerIndex
	completions, known := r.completions()
	if total == nil || perIndex == nil || !known || *total < 0 || *perIndex < 0 {
		return
	}
	if most := int64(completions) * (int64(*perIndex) + 1); int64(*total) >= most {
		r.add(Info, "both-limits", r.specPath(backoffPath), "leave backoffLimit out",
			"backoffLimit is never reached: the indexes can fail %d times in all", most)
		return
	}
	r.add(Warning, "both-limits", r.specPath(backoffPath), "leave backoffLimit out, or raise it",
		"backoffLimit wins: failure %d fails the whole Job, whichever indexes the failures are of, even if they have retries left", int64(*total)+1)
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
		r.add(Warning, "limit-per-index-on-failure", path, "set restartPolicy: Never",
			"with restartPolicy OnFailure, containers restart within their pod, and those failures do not count for the index")
	}
}
