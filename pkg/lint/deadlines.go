package lint

// checkActiveDeadline finds a deadline of 0, which API servers accept, and which expires as
// soon as the Job starts (D-35).
func checkActiveDeadline(r *review) {
	if deadline := r.spec.ActiveDeadlineSeconds; deadline != nil && *deadline == 0 {
		r.add(Error, "deadline-zero", r.specPath("activeDeadlineSeconds"), "use 1 or more, or remove it", "with activeDeadlineSeconds 0, the Job fails as soon as it starts")
	}
}

func checkTTL(r *review) {
	if isZero(r.spec.TTLSecondsAfterFinished) {
		r.add(Info, "ttl-zero", r.specPath("ttlSecondsAfterFinished"), "use at least a few minutes",
			"with ttlSecondsAfterFinished 0, the Job, its pods and their logs are deleted as soon as it ends, so nobody can see why it failed")
	}
}
