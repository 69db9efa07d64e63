package lint

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
