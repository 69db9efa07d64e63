package meaning_test

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// The lists of messages that other packages parse.
func init() {
	meaning.ReadCatalog("cronjob", cronJob)
	meaning.ReadCatalog("kueue", hold)
}

// cronJob explains a CronJob with a running Job and the event.
func cronJob(reason, message string) (kind, sentence string) {
	now := time.Date(2026, 11, 28, 3, 10, 0, 0, time.UTC)
	cj := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "nightly", CreationTimestamp: metav1.NewTime(now.Add(-time.Minute))},
		Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *", TimeZone: ptr.To("Etc/UTC"), ConcurrencyPolicy: batchv1.ReplaceConcurrent},
		Status:     batchv1.CronJobStatus{Active: []corev1.ObjectReference{{Name: "nightly-29405099"}}},
	}
	if reason == "JobAlreadyActive" {
		cj.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
	}
	r := cronjob.Explain(input.CronJob{
		Now: now, Namespace: "batch", Name: "nightly", CronJob: cj, Events: []input.Event{{Reason: reason, Message: message, First: now, Last: now}},
	}, nil)
	if r.State == explain.CronJobScheduled {
		return "quoted", r.Sentence
	}
	return string(r.State), r.Sentence
}

func hold(reason, message string) (kind, sentence string) {
	h := kueue.HoldOf(&kueue.Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: reason, Message: message}}}, time.Time{})
	if kind = string(h.Kind); h.Kind == kueue.Other {
		kind = "quoted"
	}
	return kind, strings.TrimSpace(words.ProblemWhat(&explain.Problem{Kind: explain.ProblemSuspended, Suspension: explain.Suspension{Hold: h}}, time.Time{}))
}
