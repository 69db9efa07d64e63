package advice

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// onQueueHold is what to do about a Job that Kueue does not admit: whether waiting helps depends on why.
func onQueueHold(in *facts.Facts, p *explain.Problem) []explain.Advice {
	workload := kubectl(in.Job, "describe %s %s", kueue.Workloads, shellWord(p.Hold.Workload))
	queue := workload
	if p.Queue != "" {
		queue = kubectl(in.Job, "describe localqueues.%s %s", explain.Kueue, shellWord(p.Queue))
	}
	switch p.Hold.Kind {
	case kueue.QuotaInUse, kueue.BorrowingLimit:
		return advise(words.AskLocalQueue, queue)
	case kueue.QuotaTooSmall, kueue.NoResource:
		return advise(words.RequestLess, queue)
	case kueue.QueueMissing:
		return advise(words.ChooseQueue, kubectl(in.Job, "get localqueues.%s", explain.Kueue))
	case kueue.QueueStopped:
		if p.Hold.QueueKind == "ClusterQueue" {
			queue = "kubectl describe clusterqueues." + explain.Kueue + " " + shellWord(p.Hold.QueueName)
		}
		return advise(words.HaveQueueStarted, queue)
	case kueue.Deactivated:
		return append(advise(words.ReadWorkload, workload),
			advise(words.ActivateWorkload, kubectl(in.Job, `patch %s %s --type merge -p '{"spec":{"active":true}}'`, kueue.Workloads, shellWord(p.Hold.Workload)))...)
	case kueue.AdmissionChecks:
		return advise(words.FindAdmissionCheck, workload)
	}
	return advise(words.ReadWorkload, workload)
}
