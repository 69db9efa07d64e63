package cases

import (
	"fmt"
	"regexp"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// histories check every version of all Jobs and pods of the other cases. The invariants are in package invariants.
// MGB-09 is left out: the KEP only recommends to write the interim and the terminal condition separately; the API does
// not require it.
var histories = []suite.Case{
	{Name: "history-status-rules", Title: "Each change of a status keeps the rules of the API server",
		Source: "KEP-4368, API", Requirements: []string{"STV-01", "STV-21", "STV-25"}, Check: none(`^STV-`)},
	{Name: "history-counted-once", Title: "Each pod is counted once, after it has lost the finalizer",
		Source: "KEP-2307, Algorithm", Requirements: []string{"S1", "TRK-28"}, Check: none(`^(S1|TRK-28)$`)},
	{Name: "history-recorded-first", Title: "No pod that has ended loses the finalizer before its end is recorded",
		Source: "KEP-2307, Algorithm", Requirements: []string{"S2", "TRK-01"}, Check: none(`^(S2|TRK-01)$`)},
	{Name: "history-nothing-forgotten", Title: "What is recorded did happen, and is in the counts of the finished Job",
		Source: "KEP-2307, Goals", Requirements: []string{"S3"}, Check: none(`^S3$`)},
	{Name: "history-pods-in-bounds", Title: "No more pods are created than parallelism, completions and podReplacementPolicy allow",
		Source: "API: JobSpec.parallelism; KEP-3939", Requirements: []string{"S5"}, Check: none(`^S5$`)},
	{Name: "history-indexes", Title: "An index has one running pod, stays completed or failed, and a pod made it so",
		Source: "KEP-2214; KEP-3850", Requirements: []string{"S6"}, Check: none(`^S6$`)},
	{Name: "history-suspended", Title: "No pod is created in a suspended Job, and no status has more than 500 uncounted pods",
		Source: "KEP-2232; KEP-2307", Requirements: []string{"S9"}, Check: none(`^S9$`)},
	{Name: "history-finished-jobs", Title: "A Job is finished when no pod is left that has not ended, and its status never changes again",
		Source: "KEP-4368, Terminating pods", Requirements: []string{"MGB-10", "MGB-11"}, Check: none(`^MGB-1[01]$`)},
	{Name: "history-reasons", Title: "The reason of each end is what happened, and the same in the interim and the terminal condition",
		Source: "KEP-3998; KEP-3850; KEP-3329", Requirements: []string{"S11"}, Check: none(`^S11$`)},
	{Name: "history-finalizers", Title: "No pod of a Job that is finished or gone holds the tracking finalizer",
		Source: "KEP-2307, Deleted Jobs", Requirements: []string{"L2"}, Check: none(`^L2$`)},
}

// violationsAtMost is how many violations of a kind a report lists.
const violationsAtMost = 5

// none checks that the record has no violation whose id matches.
func none(ids string) func(*suite.Evidence) {
	match := regexp.MustCompile(ids)
	return func(e *suite.Evidence) {
		jobs, finished := e.Jobs(), 0
		for _, job := range jobs {
			if history.IsFinished(job) {
				finished++
			}
		}
		e.Observe("%d Jobs (%d finished), %d versions", len(jobs), finished, len(e.Versions))
		found := 0
		for _, v := range e.Violations {
			if !match.MatchString(v.Invariant) {
				continue
			}
			if found++; found <= violationsAtMost {
				e.Errorf("no write breaks "+v.Invariant, "%s", v)
			}
		}
		if found > violationsAtMost {
			e.Errorf("no write breaks it", "%s", fmt.Sprintf("%d more", found-violationsAtMost))
		}
	}
}
