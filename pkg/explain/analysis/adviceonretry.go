package analysis

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// adviceOnRetry is how to run what is missing of a Job that failed.
func (a *situation) adviceOnRetry() []explain.Advice {
	if !a.needsRetry() {
		return nil
	}
	last := a.job.Name
	if a.family != nil {
		if m := a.family.Members[len(a.family.Members)-1]; !m.Pending {
			last = m.Name // It has the changes of those before it.
		}
	}
	text, flags := "rerun what is missing once the cause is fixed; --image, --set-env and --limits change the Job", ""
	if memory := a.moreMemory(); memory != "" && last == a.job.Name {
		text, flags = "rerun what is missing with more memory", memory
	}
	return []explain.Advice{advise(text, a.kubectl("batchjob retry %s%s", shellWord(last), flags))}
}

// needsRetry reports whether something of the failed Job is missing that nothing else runs: a retry, or what its owner does.
func (a *situation) needsRetry() bool {
	if a.focused() || a.outcome.Fate != explain.FateFailed || !a.RelativesRead || a.job.DeletionTimestamp != nil || a.managingOwner() != nil {
		return false
	}
	if f := a.family; f != nil {
		return !f.Complete && f.RunningIn == ""
	}
	return !a.indexed() || !retry.Family{a.job}.Missing(a.job).IsEmpty()
}

// moreMemory are the flags of retry that double the memory limit of the container that ran out of memory, "" for none.
func (a *analysis) moreMemory() string {
	f := a.example()
	if f == nil || f.container() == nil || f.container().Reason != "OOMKilled" {
		return ""
	}
	name := f.container().Name
	limit, known := a.memoryLimit(name)
	if !known {
		return ""
	}
	limit.Mul(2)
	return a.containerFlag(name) + " --limits memory=" + limit.String()
}
