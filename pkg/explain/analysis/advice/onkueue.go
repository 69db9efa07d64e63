package advice

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// onQueueHold is what to do about a Job that Kueue does not admit: whether waiting helps depends on why.
func onQueueHold(in *facts.Facts, p *explain.Problem) []explain.Advice {
	workload := kubectl(in.Job, "describe %s %s", explain.KueueWorkloads, shellWord(p.Hold.Workload))
	queue := workload
	if p.Queue != "" {
		queue = kubectl(in.Job, "describe localqueues.%s %s", explain.Kueue, shellWord(p.Queue))
	}
	switch p.Hold.Kind {
	case explain.HoldQuotaInUse, explain.HoldBorrowingLimit:
		return advise(words.AskLocalQueue, queue)
	case explain.HoldQuotaTooSmall, explain.HoldNoResource:
		return advise(words.RequestLess, queue)
	case explain.HoldQueueMissing:
		return advise(words.ChooseQueue, kubectl(in.Job, "get localqueues.%s", explain.Kueue))
	case explain.HoldQueueStopped:
		if p.Hold.QueueKind == "ClusterQueue" {
			queue = "kubectl describe clusterqueues." + explain.Kueue + " " + shellWord(p.Hold.QueueName)
		}
		return advise(words.HaveQueueStarted, queue)
	case explain.HoldDeactivated:
		return append(advise(words.ReadWorkload, workload),
			advise(words.ActivateWorkload, kubectl(in.Job, `patch %s %s --type merge -p '{"spec":{"active":true}}'`, explain.KueueWorkloads, shellWord(p.Hold.Workload)))...)
	case explain.HoldAdmissionChecks:
		return advise(words.FindAdmissionCheck, workload)
	}
	return advise(words.ReadWorkload, workload)
}
