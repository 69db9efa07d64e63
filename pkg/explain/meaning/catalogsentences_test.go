package meaning_test

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// The lists of messages that other packages parse.
func init() {
	meaning.ReadCatalog("refusal", refusal)
	meaning.ReadCatalog("autoscaler", autoscaler)
	meaning.ReadCatalog("cronjob", cronJob)
	meaning.ReadCatalog("kueue", hold)
}

func refusal(_, message string) (kind, sentence string) {
	r := eventtext.RefusalOf(message)
	if kind = r.Reason; r.Trouble != nil {
		kind += ": " + string(r.Trouble.Kind)
	}
	if kind == explain.RefusalForbidden || kind == explain.RefusalOther {
		kind = "quoted"
	}
	return kind, words.ProblemWhat(&explain.Problem{
		Kind: explain.ProblemCreationRefused, Reason: r.Reason, RefusedBy: r.By, Refusal: r.Message, Trouble: r.Trouble,
	}, time.Time{})
}

func autoscaler(reason, message string) (kind, sentence string) {
	e := input.Event{Pod: "a", Source: explain.ByKarpenter, Reason: reason, Message: message}
	a := eventtext.AutoscalerOf(&e)
	end, why := eventtext.EndingOf(&e)
	switch {
	case a != nil && a.Adds:
		kind = "adds a node"
	case a != nil:
		kind = "adds no node"
	case end != nil:
		return string(end.Kind), why
	}
	return kind, words.ProblemNote(&explain.Problem{Kind: explain.ProblemUnschedulable, Autoscaler: a})
}

func cronJob(reason, message string) (kind, sentence string) {
	e := input.Event{Reason: reason, Message: message}
	switch kind = string(eventtext.CronJobStateOf(&e)); explain.CronJobState(kind) {
	case "":
		kind = "quoted"
	case explain.CronJobMissedStart:
		return kind, eventtext.MissedStart(message).String()
	case explain.CronJobBadSchedule, explain.CronJobUnknownZone:
		return kind, eventtext.Rejected(message)
	}
	return kind, message
}

func hold(reason, message string) (kind, sentence string) {
	h := kueue.HoldOf(&kueue.Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: reason, Message: message}}})
	if kind = string(h.Kind); h.Kind == kueue.Other {
		kind = "quoted"
	}
	return kind, strings.TrimSpace(words.ProblemWhat(&explain.Problem{Kind: explain.ProblemSuspended, Hold: h}, time.Time{}))
}
