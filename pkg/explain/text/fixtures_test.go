package text

import (
	"fmt"
	"math"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// started is the start time of the Jobs of the fixtures.
var started = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: started.Add(time.Duration(seconds) * time.Second)}
}

func moment(seconds int, what, text string) explain.Moment {
	return explain.Moment{Time: *at(seconds), What: what, Text: text}
}

func warning(seconds int, what, text string) explain.Moment {
	m := moment(seconds, what, text)
	m.Warning = true
	return m
}

// baseReport returns a running Job of the built-in controller, observed the given number of seconds after its start.
func baseReport(name string, observed int) explain.Report {
	return explain.Report{
		Job: explain.Job{
			Namespace: "ml", Name: name, UID: "5a4f6a5e", Created: at(-1), Started: at(0), DurationSeconds: ptr.To(int64(observed)),
			CompletionMode: "NonIndexed", Completions: ptr.To(int32(10)), Parallelism: ptr.To(int32(3)), BackoffLimit: ptr.To(int32(6)),
			PodReplacementPolicy: "TerminatingOrFailed", RestartPolicy: "Never",
		},
		ObservedAt: *at(observed),
		Verdict:    explain.Verdict{Status: "Running", Outcome: reconcile.OutcomeOpen},
		Counts:     explain.Counts{Ready: ptr.To(int32(0)), Terminating: ptr.To(int32(0))},
		Reconciler: explain.Reconciler{Alive: explain.AlivenessUnknown, Text: "last wrote the status 4s ago", Manager: "kube-controller-manager", LastWrite: at(observed - 4)},
	}
}

func finish(r *explain.Report, status string, outcome reconcile.Outcome, seconds int) {
	r.Verdict.Status, r.Verdict.Outcome = status, outcome
	r.Job.Finished, r.Job.DurationSeconds = at(seconds), ptr.To(int64(seconds))
}

func ours(r *explain.Report) {
	r.Job.ManagedBy = "batchjob.dev/controller"
	r.Reconciler = explain.Reconciler{
		ManagedBy: "batchjob.dev/controller", Ours: true, Alive: explain.Alive,
		Text: "seen 3s ago, batchjob-controller-7d9c5b6f4-x2x9q holds its Lease", Manager: "kubectl-batchjob", LastWrite: at(180),
	}
}

// fixtures returns Reports as explain creates them, one per scenario.
func fixtures() map[string]explain.Report {
	all := map[string]explain.Report{
		"failed-by-rule":      failedByRule(),
		"backoff-limit":       backoffLimit(),
		"max-failed-indexes":  maxFailedIndexes(),
		"stalled-by-quota":    stalledByQuota(),
		"image-pull":          imagePull(),
		"failure-target":      failureTarget(),
		"success-criteria":    successCriteria(),
		"suspended":           suspended(),
		"complete":            complete(),
		"running-with-policy": runningWithPolicy(),
		"nothing-readable":    nothingReadable(),
		"wide-runes":          wideRunes(),
		"disruptions":         disruptions(),
	}
	for name, r := range all {
		limitFailures(&r)
		r.Verdict.State = stateOf(&r)
		all[name] = r
	}
	return all
}

// disruptions returns a running Job whose pods others take again and again, which a rule ignores.
func disruptions() explain.Report {
	r := baseReport("preemptible", 7200)
	r.Job.CompletionMode = "Indexed"
	r.Counts.Active, r.Counts.Succeeded, r.Counts.Completed = 3, 4, 4
	r.Verdict.Sentence, r.Verdict.Summary = "The Job is running: 4 of 10 indexes succeeded.", "4 of 10 indexes succeeded"
	ignored := explain.Ruling{Rule: ptr.To(int32(0)), RuleName: "Evicted", Action: "Ignore"}
	r.Disruptions = &explain.Disruptions{
		Pods: 24, TimedPods: 22, LostSeconds: 15132, Index: ptr.To(int32(7)), IndexPods: 5,
		By: []explain.Disruption{
			{
				Ending: meaning.Ending{Kind: meaning.EndEvicted, By: meaning.ByKarpenter}, Why: "Underutilized", Pods: 19, TimedPods: 19, LostSeconds: 14400,
				Indexes: "0-3,7", Nodes: []string{"ip-10-0-1-7.ec2.internal", "ip-10-0-1-9.ec2.internal"}, Rulings: []explain.RuledPods{{Ruling: ignored, Pods: 18}, {Pods: 1}},
			},
			{
				Ending: meaning.Ending{Kind: meaning.EndPreempted, By: meaning.ByScheduler}, Pods: 3, TimedPods: 3, LostSeconds: 732, Indexes: "7",
				For: []string{"5d0c7a1e-0f5f-4d0e-9a7b-1f9a3c1e2b44"}, Rulings: []explain.RuledPods{{Ruling: ignored, Pods: 3}},
			},
			{Ending: meaning.Ending{Kind: meaning.EndEvicted}, Pods: 2, Indexes: "8-9"},
		},
	}
	return r
}

// stateOf returns the state for the headline, as explain sets it.
func stateOf(r *explain.Report) string {
	switch v := &r.Verdict; {
	case v.Outcome != reconcile.OutcomeOpen:
		return map[reconcile.Outcome]string{
			reconcile.OutcomeFailed: "failed", reconcile.OutcomeFailing: "is failing", reconcile.OutcomeComplete: "completed", reconcile.OutcomeSucceeding: "has succeeded",
		}[v.Outcome]
	case v.Stalled && r.Job.Suspend:
		return "is suspended"
	case v.Stalled:
		return "is stalled"
	}
	return "is running"
}

// limitFailures compares the failures of the status with the backoffLimit, as explain does.
func limitFailures(r *explain.Report) {
	if limit := *r.Job.BackoffLimit; limit != math.MaxInt32 {
		used := r.Counts.Failed + r.Counts.UncountedFailed
		r.BackoffLimit = &explain.BackoffLimit{Unit: explain.LimitFailures, Used: used, Limit: limit, Left: max(limit-used+1, 0)}
	}
}

func failedByRule() explain.Report {
	r := baseReport("train", 190)
	ours(&r)
	finish(&r, "Failed", reconcile.OutcomeFailed, 184)
	r.Verdict.Reason, r.Verdict.Rule, r.Verdict.RuleName = "PodFailurePolicy_BadDataset", ptr.To(int32(1)), "BadDataset"
	r.Verdict.Sentence = `The Job failed: rule 1 "BadDataset" of its podFailurePolicy matched pod train-3-x7k2p (index 3): its container main ended with code 42.`
	r.Job.CompletionMode, r.Job.BackoffLimitPerIndex, r.Job.BackoffLimit = "Indexed", ptr.To(int32(3)), ptr.To(int32(math.MaxInt32))
	r.Evidence = []explain.Evidence{
		{Kind: explain.EvidenceCondition, Text: "condition Failed: PodFailurePolicy_BadDataset, “Container main for pod ml/train-3-x7k2p failed with exit code 42 matching FailJob rule at index 1”", Time: at(184)},
		{Kind: explain.EvidenceRule, Text: `rule 1 "BadDataset" of the podFailurePolicy: FailJob if main exits with 42 or 43`},
		{Kind: explain.EvidencePod, Text: "pod train-3-x7k2p of index 3 (attempt 2 of 4) failed on node worker-2", Time: at(181)},
		{Kind: explain.EvidenceContainer, Text: "container main exited with code 42"},
		{Kind: explain.EvidenceLogs, Text: "last lines of its log", Lines: []string{
			"epoch 0: loading shard 3 of 10 from s3://datasets/imagenet/2026-02",
			"    shard-00003.tar: 41 records, expected 1024",
			"FATAL: dataset is truncated (sha256 differs from the manifest), giving up",
		}},
	}
	r.Advice = []explain.Advice{
		{Text: "read the whole log", Command: "kubectl logs train-3-x7k2p -c main -n ml"},
		{Text: "correct the cause, and create the Job anew: a failed Job does not start again"},
	}
	r.Counts = explain.Counts{Ready: ptr.To(int32(0)), Terminating: ptr.To(int32(0)), Succeeded: 4, Completed: 4, Failed: 4, Pods: ptr.To(int32(8)), FailedPods: ptr.To(int32(4)), Finalizers: ptr.To(int32(0)), IgnoredFailures: 1}
	r.FailurePolicy = &explain.FailurePolicy{Unmatched: new(int32), Rules: []explain.FailureRule{
		{Index: 0, Name: "Preempted", Action: "Ignore", Requirement: "pod condition DisruptionTarget", Matched: ptr.To[int32](1), PassedOver: 3, Why: "the pod has no such condition"},
		{Index: 1, Name: "BadDataset", Action: "FailJob", Requirement: "main exits with 42 or 43", Matched: ptr.To[int32](1), PassedOver: 2, Why: "main exited with 143", Decided: true},
		{Index: 2, Action: "FailIndex", Requirement: "any container exits with a code other than 0, 1, 2 and 143", Matched: new(int32), PassedOver: 2, Why: "143 is in the list"},
	}}
	r.Causes = []explain.Cause{
		{Text: "container main exited with code 42", Source: explain.SourcePods, Count: 1, Ruling: explain.Ruling{Rule: ptr.To(int32(1)), RuleName: "BadDataset", Action: "FailJob"}, Lost: explain.Lost{Indexes: "3"}, Pods: []string{"train-3-x7k2p"}, Ended: explain.Ended{Message: "dataset is truncated"}},
		{Text: "container main exited with code 143", Meaning: "it was asked to end", Source: explain.SourcePods, Count: 2, Lost: explain.Lost{Indexes: "5-6"}, Pods: []string{"train-5-abcde", "train-6-fghij"}, Stop: explain.Stop{Consequence: true}},
		{Text: "pod condition DisruptionTarget (PreemptionByScheduler)", Source: explain.SourcePods, Count: 1, Ruling: explain.Ruling{Rule: ptr.To(int32(0)), RuleName: "Preempted", Action: "Ignore"}, Lost: explain.Lost{Indexes: "3"}, Pods: []string{"train-3-qqqqq"}},
	}
	r.Indexes = &explain.Indexes{Total: 10, Completed: "0-2,4", CompletedCount: 4, Failed: "", Pending: "3,5-9", PendingCount: 6, WillNotComplete: "3,5-9", WillNotCompleteCount: 6, Details: []explain.IndexInfo{
		{Index: 3, State: "Failed", Attempt: 2, Attempts: 4, Failures: 1, Ignored: 1, Pod: "train-3-x7k2p", Cause: "container main exited with code 42"},
		{Index: 5, State: "Pending", Attempt: 1, Attempts: 4, Failures: 1, Pod: "train-5-abcde", Cause: "container main exited with code 143"},
	}}
	r.Timeline = []explain.Moment{
		moment(-1, "Job", "the Job was created"), moment(0, "Job", "the Job started"),
		{Time: *at(1), Until: at(9), Count: 10, What: "Event", Text: "pods were created"},
		warning(63, "Pod", "pod train-3-qqqqq was preempted"), warning(181, "Pod", "pod train-3-x7k2p failed: container main exited with code 42"),
		warning(182, "Condition", "condition FailureTarget: PodFailurePolicy_BadDataset"), warning(184, "Condition", "condition Failed: PodFailurePolicy_BadDataset"),
	}
	r.Pods = []explain.PodInfo{
		{Name: "train-3-x7k2p", Index: ptr.To(int32(3)), Attempt: 2, Phase: "Failed", State: "Failed", Node: "worker-2", Created: at(64), Ended: at(181), Cause: "container main exited with code 42", Rule: ptr.To(int32(1)), Counted: "Counted"},
		{Name: "train-5-abcde", Index: ptr.To(int32(5)), Attempt: 1, Phase: "Failed", State: "Failed", Node: "worker-1", Created: at(5), Ended: at(184), Cause: "container main exited with code 143", Counted: "Counted"},
		{Name: "train-0-zzzzz", Index: ptr.To(int32(0)), Attempt: 1, Phase: "Succeeded", State: "Succeeded", Node: "worker-1", Created: at(1), Ended: at(90), Counted: "Counted"},
	}
	return r
}

func backoffLimit() explain.Report {
	r := baseReport("nightly-report-29021", 4000)
	finish(&r, "Failed", reconcile.OutcomeFailed, 3725)
	r.Job.Owner = &explain.Owner{Kind: "CronJob", Name: "nightly-report"}
	r.Job.TTLSecondsAfterFinished = ptr.To(int32(3600))
	r.Verdict.Reason = "BackoffLimitExceeded"
	r.Verdict.Sentence = "The Job failed: 7 pods failed, and backoffLimit 6 allows 6 retries; mostly (5 of 7) container main exited with code 137 (OOMKilled)."
	r.Evidence = []explain.Evidence{
		{Kind: explain.EvidenceCondition, Text: "condition Failed: BackoffLimitExceeded, “Job has reached the specified backoff limit”", Time: at(3725)},
		{Kind: explain.EvidenceLimit, Text: "backoffLimit 6: 7 pods failed"},
		{Kind: explain.EvidencePod, Text: "pod nightly-report-29021-8sk4d (attempt 7) failed on node worker-1", Time: at(3720)},
		{Kind: explain.EvidenceContainer, Text: "container main exited with code 137 (OOMKilled): it used more memory than its limit, 512Mi"},
		{Kind: explain.EvidenceNote, Text: "its log cannot be shown: the container is gone"},
	}
	r.Advice = []explain.Advice{
		{Text: "raise the memory limit of container main, which is 512Mi, or make it use less memory"},
		{Text: "read the logs of all failed pods", Command: "kubectl batchjob logs nightly-report-29021 -n ml --failed"},
	}
	r.Counts.Failed, r.Counts.Pods, r.Counts.FailedPods = 7, ptr.To(int32(5)), ptr.To(int32(5))
	r.Causes = []explain.Cause{
		{Text: "container main exited with code 137 (OOMKilled)", Meaning: "SIGKILL by the kernel, because its memory limit was reached", Source: explain.SourcePods, Count: 4, Pods: []string{"nightly-report-29021-8sk4d", "nightly-report-29021-2mzzq", "nightly-report-29021-wpl2d"}},
		{Text: "container main exited with code 1", Source: explain.SourcePods, Count: 1, Pods: []string{"nightly-report-29021-k2k2k"}, Ended: explain.Ended{Message: "cannot connect to db.prod.svc:5432: connection refused"}},
		{Text: "pod was evicted: the node was low on ephemeral-storage", Source: explain.SourceEvents, Count: 1, Pods: []string{"nightly-report-29021-j7j7j"}},
	}
	r.FailuresWithoutPod = 1
	r.Waits = []explain.Wait{{Kind: explain.WaitTTL, Until: *at(3725 + 3600), Text: "the Job and its pods are deleted (ttlSecondsAfterFinished 3600)"}}
	for i := range 30 {
		r.Timeline = append(r.Timeline, warning(i*120, "Pod", fmt.Sprintf("pod nightly-report-29021-%05d failed: container main exited with code 137 (OOMKilled)", i)))
	}
	for i := range 12 {
		r.Pods = append(r.Pods, explain.PodInfo{Name: fmt.Sprintf("nightly-report-29021-%05d", i), Attempt: int32(i + 1), Phase: "Failed", State: "Failed", Node: "ip-10-0-12-7.eu-west-1.compute.internal", Created: at(i * 120), Ended: at(i*120 + 60), Cause: "container main exited with code 137 (OOMKilled)", Counted: "Counted"})
	}
	r.PodsOmitted = 3
	return r
}

func maxFailedIndexes() explain.Report {
	r := baseReport("render", 90000)
	ours(&r)
	finish(&r, "Failed", reconcile.OutcomeFailed, 86400)
	r.Job.CompletionMode, r.Job.Completions, r.Job.Parallelism = "Indexed", ptr.To(int32(100000)), ptr.To(int32(1000))
	r.Job.BackoffLimitPerIndex, r.Job.MaxFailedIndexes, r.Job.BackoffLimit = ptr.To(int32(1)), ptr.To(int32(500)), ptr.To(int32(math.MaxInt32))
	r.Verdict.Reason = "MaxFailedIndexesExceeded"
	r.Verdict.Sentence = "The Job failed: 501 indexes failed (7,19,31,43,55,67,79,91,103,115,127,139,151,163,…), and maxFailedIndexes allows 500; container main exited with code 1."
	r.Evidence = []explain.Evidence{
		{Kind: explain.EvidenceCondition, Text: "condition Failed: MaxFailedIndexesExceeded, “Job has exceeded the specified maximal number of failed indexes”", Time: at(86400)},
		{Kind: explain.EvidenceLimit, Text: "maxFailedIndexes 500: 501 indexes failed (7,19,31,43,55,67,79,91,103,115,127,139,151,163,…)"},
		{Kind: explain.EvidencePod, Text: "pod render-6007-lq8vz of index 6007 (attempt 2 of 2) failed", Time: at(86395)},
		{Kind: explain.EvidenceContainer, Text: "container main exited with code 1"},
	}
	var failed, completed []string
	for i := range 501 {
		failed = append(failed, fmt.Sprint(7+12*i))
		completed = append(completed, fmt.Sprintf("%d-%d", 8+12*i, 18+12*i))
	}
	r.Indexes = &explain.Indexes{
		Total: 100000, Failed: strings.Join(failed, ","), FailedCount: 501, Completed: "0-6," + strings.Join(completed, ","), CompletedCount: 5518,
		Pending: "6020-99999", PendingCount: 93981, WillNotComplete: "6020-99999", WillNotCompleteCount: 93981, DetailsOmitted: 481,
	}
	for i := range 20 {
		r.Indexes.Details = append(r.Indexes.Details, explain.IndexInfo{Index: int32(7 + 12*i), State: "Failed", Attempt: 2, Attempts: 2, Failures: 2, Pod: fmt.Sprintf("render-%d-lq8vz", 7+12*i), Cause: "container main exited with code 1"})
	}
	r.Causes = []explain.Cause{{Text: "container main exited with code 1", Source: explain.SourcePods, Count: 1002, Lost: explain.Lost{Indexes: strings.Join(failed, ",")}, Pods: []string{"render-6007-lq8vz", "render-5995-aaaaa", "render-5983-bbbbb"}, Ended: explain.Ended{Message: "blender: scene.blend: no such file"}}}
	r.Counts = explain.Counts{Terminating: ptr.To(int32(0)), Succeeded: 5518, Completed: 5518, Failed: 1002}
	r.Advice = []explain.Advice{{Text: "read the logs of the failed indexes", Command: "kubectl batchjob logs render -n ml --index 7"}}
	return r
}

func stalledByQuota() explain.Report {
	r := baseReport("etl", 600)
	r.Verdict.Stalled = true
	r.Verdict.Sentence = "The Job is stalled: its pods cannot be created, a ResourceQuota is used up."
	r.Evidence = []explain.Evidence{{Kind: explain.EvidenceEvent, Text: "event FailedCreate, 12 times", Time: at(590), Lines: []string{
		`Error creating: pods "etl-9x8w7" is forbidden: exceeded quota: team-ml, requested: requests.cpu=4, used: requests.cpu=62, limited: requests.cpu=64`,
	}}}
	r.Verdict.Problem = ptr.To[int32](0)
	r.Problems = []explain.Problem{{Kind: explain.ProblemCreationRefused, Blocks: true, Text: "its pods cannot be created, a ResourceQuota is used up", Since: at(12), Details: []string{
		`pods "etl-9x8w7" is forbidden: exceeded quota: team-ml, requested: requests.cpu=4, used: requests.cpu=62, limited: requests.cpu=64`,
	}}}
	r.Advice = []explain.Advice{{Text: "check the quota, and free up some of it or raise it", Command: "kubectl describe resourcequota -n ml"}}
	r.Next = []explain.Step{{Text: "the controller tries again, at longer and longer intervals"}}
	return r
}

func imagePull() explain.Report {
	r := baseReport("evaluate", 330)
	r.Verdict.Stalled = true
	r.Verdict.Sentence = "The Job is stalled: the image registry.example.com/ml/eval:v12 of 3 pods cannot be pulled."
	r.Counts.Active = 3
	r.Verdict.Problem = ptr.To[int32](0)
	r.Problems = []explain.Problem{
		{Kind: explain.ProblemImagePull, Blocks: true, Text: "the image registry.example.com/ml/eval:v12 of 3 pods cannot be pulled", Since: at(3), Count: 3, Pods: []string{"evaluate-2b7lq", "evaluate-8rrzk", "evaluate-tt4xm"}, Details: []string{"ErrImagePull: manifest for registry.example.com/ml/eval:v12 not found: manifest unknown"}},
		{Kind: explain.ProblemInvalidRuleNames, Text: "the annotation of rule names is not valid, so the rules have no names", Details: []string{`rule 0: name "bad data" is not CamelCase`, "rule 7 does not exist"}},
	}
	r.Advice = []explain.Advice{{Text: "recreate the Job with the correct image in its pod template, or make this image available", Command: "kubectl describe pod evaluate-2b7lq -n ml"}}
	r.Next = []explain.Step{{Text: "the kubelet tries to pull again, at intervals of up to 5 minutes; this does not count as a failure"}}
	r.Pods = []explain.PodInfo{
		{Name: "evaluate-2b7lq", Phase: "Pending", State: "ImagePullBackOff", Node: "worker-1", Created: at(1)},
		{Name: "evaluate-8rrzk", Phase: "Pending", State: "ImagePullBackOff", Node: "worker-2", Created: at(1)},
		{Name: "evaluate-tt4xm", Phase: "Pending", State: "ErrImagePull", Node: "worker-1", Created: at(1)},
	}
	return r
}

func failureTarget() explain.Report {
	r := baseReport("migrate", 75)
	ours(&r)
	r.Verdict = explain.Verdict{Status: "FailureTarget", Outcome: reconcile.OutcomeFailing, End: explain.End{Reason: "DeadlineExceeded", WaitsFor: &explain.WaitsFor{Terminating: 2}}}
	r.Verdict.Sentence = "The Job is going to fail: it ran longer than activeDeadlineSeconds, 60s, allows; it waits for 2 terminating pods."
	r.Job.ActiveDeadlineSeconds = ptr.To(int64(60))
	r.Counts = explain.Counts{Terminating: ptr.To(int32(2)), Succeeded: 3, Completed: 3, Failed: 0, UncountedFailed: 1, Pods: ptr.To(int32(6)), Finalizers: ptr.To(int32(3))}
	r.Evidence = []explain.Evidence{
		{Kind: explain.EvidenceCondition, Text: "condition FailureTarget: DeadlineExceeded, “Job was active longer than specified deadline”", Time: at(60)},
		{Kind: explain.EvidenceLimit, Text: "activeDeadlineSeconds 60: the Job ran from 2026-03-01T12:00:00Z on"},
	}
	r.Waits = []explain.Wait{{Kind: explain.WaitGrace, Until: *at(90), Text: "the grace period of 2 terminating pods ends"}}
	r.Next = []explain.Step{
		{Kind: explain.StepTerminated, At: at(90), Text: "the last terminating pod must have ended by then"},
		{Text: "the condition Failed follows once every pod has ended and is counted"},
	}
	r.Advice = []explain.Advice{{
		Text:   "give the Job more time (activeDeadlineSeconds), or run more pods at once (parallelism)",
		WhatIf: &explain.WhatIf{Text: "with activeDeadlineSeconds 1160, this Job would have completed after 10m instead of failing after 9m40s (1 of 10 pods estimated)"},
	}}
	return r
}

func successCriteria() explain.Report {
	r := baseReport("search", 130)
	ours(&r)
	r.Verdict = explain.Verdict{Status: "SuccessCriteriaMet", Outcome: reconcile.OutcomeSucceeding, End: explain.End{Reason: "SuccessPolicy", WaitsFor: &explain.WaitsFor{Terminating: 3}}}
	r.Verdict.Sentence = "The Job has succeeded: 5 of 5 of indexes 1-9 succeeded; it waits for 3 terminating pods."
	r.Job.CompletionMode = "Indexed"
	r.Counts = explain.Counts{Terminating: ptr.To(int32(3)), Succeeded: 5, Completed: 5}
	r.SuccessPolicy = &explain.SuccessPolicy{Rules: []explain.SuccessRule{{Index: 0, Have: 0, Need: 1, Of: "0", Text: "0 of 1 of indexes 0"}, {Index: 1, Have: 5, Need: 5, Of: "1-9", Met: true, Text: "5 of 5 of indexes 1-9"}}}
	r.Indexes = &explain.Indexes{Total: 10, Completed: "1-4,7", CompletedCount: 5, Terminating: "0,5-6", TerminatingCount: 3, Pending: "8-9", PendingCount: 2, WillNotComplete: "8-9", WillNotCompleteCount: 2}
	r.Next = []explain.Step{{Text: "the condition Complete follows once every pod has ended and is counted"}}
	return r
}

func suspended() explain.Report {
	r := baseReport("queued", 7200)
	r.Job.Started, r.Job.DurationSeconds, r.Job.Suspend = nil, nil, true
	r.Verdict = explain.Verdict{Status: "Suspended", Outcome: reconcile.OutcomeOpen, Stalled: true, Problem: ptr.To[int32](0), Sentence: "The Job is stalled: it is suspended, since kueue holds it back."}
	r.Problems = []explain.Problem{{Kind: explain.ProblemSuspended, Blocks: true, Text: "it is suspended, since kueue holds it back", Since: at(0)}}
	r.Advice = []explain.Advice{{Text: "find out why Kueue does not admit it", Command: "kubectl get workloads.kueue.x-k8s.io -n ml"}}
	r.Next = []explain.Step{{Text: "nothing happens until this changes"}}
	return r
}

func complete() explain.Report {
	r := baseReport("hello", 400)
	finish(&r, "Complete", reconcile.OutcomeComplete, 130)
	r.Verdict.Sentence = "The Job is complete: 10 of 10 pods succeeded."
	r.Counts.Succeeded, r.Counts.Completed, r.Counts.Failed, r.Counts.Pods = 10, 10, 1, ptr.To(int32(11))
	r.Causes = []explain.Cause{{Text: "container main exited with code 1", Source: explain.SourcePods, Count: 1, Pods: []string{"hello-w9w9w"}}}
	r.Evidence = []explain.Evidence{{Kind: explain.EvidenceCondition, Text: "condition Complete: CompletionsReached", Time: at(130)}}
	r.Timeline = []explain.Moment{moment(-1, "Job", "the Job was created"), moment(130, "Condition", "condition Complete")}
	r.Pods = []explain.PodInfo{{Name: "hello-w9w9w", Phase: "Failed", State: "Failed", Created: at(1), Ended: at(4)}}
	return r
}

func runningWithPolicy() explain.Report {
	r := baseReport("sweep", 200)
	ours(&r)
	r.Verdict.Sentence = "The Job is running: 3 pods are active, 4 of 10 indexes succeeded, and 2 indexes are in back-off."
	r.Job.CompletionMode, r.Job.BackoffLimitPerIndex, r.Job.MaxFailedIndexes, r.Job.ActiveDeadlineSeconds = "Indexed", ptr.To(int32(3)), ptr.To(int32(10)), ptr.To(int64(3600))
	r.Job.PodReplacementPolicy = "Failed"
	r.Counts = explain.Counts{Active: 3, Ready: ptr.To(int32(2)), Terminating: ptr.To(int32(1)), Succeeded: 4, Completed: 5, Failed: 3, UncountedSucceeded: 1, Pods: ptr.To(int32(11)), FailedPods: ptr.To(int32(4)), Finalizers: ptr.To(int32(5)), AwaitReplacement: 1}
	r.SuccessPolicy = &explain.SuccessPolicy{Rules: []explain.SuccessRule{
		{Index: 0, Have: 3, Need: 5, Of: "1-9", Text: "3 of 5 (indexes 1-9)"},
		{Index: 1, Have: 0, Need: 1, Of: "0", Impossible: true, Text: "0 of 1 of indexes 0"},
	}}
	r.Indexes = &explain.Indexes{
		Total: 10, Completed: "1-3,8", CompletedCount: 4, Failed: "0", FailedCount: 1, Active: "4-5,9", ActiveCount: 3,
		BackingOff: "6-7", BackingOffCount: 2, Details: []explain.IndexInfo{
			{Index: 0, State: "Failed", Attempt: 4, Attempts: 4, Failures: 4, Pod: "sweep-0-qwert", Cause: "container main exited with code 1"},
			{Index: 6, State: "BackingOff", Attempt: 2, Attempts: 4, Failures: 2, Until: at(280), Pod: "sweep-6-asdfg", Cause: "container main exited with code 137 (SIGKILL)"},
			{Index: 7, State: "BackingOff", Attempt: 1, Attempts: 4, Failures: 1, Ignored: 2, Until: at(205), Pod: "sweep-7-yxcvb", Cause: "pod condition DisruptionTarget (EvictionByEvictionAPI)"},
		},
	}
	r.Waits = []explain.Wait{
		{Kind: explain.WaitIndexBackoff, Until: *at(205), Text: "the first of 2 indexes in back-off gets its next pod", Indexes: "6-7"},
		{Kind: explain.WaitDeadline, Until: *at(3600), Text: "the Job fails if it has not finished (activeDeadlineSeconds 3600)"},
	}
	r.Next = []explain.Step{
		{Kind: explain.StepIndexBackoff, At: at(205), Text: "the back-off ends and the first of 2 indexes in back-off gets its next pod"},
		{Text: "2 successes more of rule 0's indexes and the Job is complete"},
		{Text: "10 failed indexes more and the Job fails (maxFailedIndexes 10)"},
	}
	r.Causes = []explain.Cause{
		{Text: "container main exited with code 1", Source: explain.SourcePods, Count: 4, Lost: explain.Lost{Indexes: "0"}, Pods: []string{"sweep-0-qwert"}},
		{Text: "container main exited with code 137 (SIGKILL)", Meaning: "something ended it by force", Source: explain.SourcePods, Count: 2, Lost: explain.Lost{Indexes: "6"}, Pods: []string{"sweep-6-asdfg"}},
	}
	return r
}

func nothingReadable() explain.Report {
	r := baseReport("secret", 60)
	finish(&r, "Failed", reconcile.OutcomeFailed, 50)
	r.Verdict.Reason = "BackoffLimitExceeded"
	r.Verdict.Sentence = "The Job failed: 7 pods failed, and backoffLimit 6 allows 6 retries."
	r.Counts.Failed = 7
	r.FailuresWithoutPod = 7
	r.Evidence = []explain.Evidence{
		{Kind: explain.EvidenceCondition, Text: "condition Failed: BackoffLimitExceeded, “Job has reached the specified backoff limit”", Time: at(50)},
		{Kind: explain.EvidenceNote, Text: "why its pods failed cannot be told: pods could not be read"},
	}
	r.Gaps = []input.Gap{
		{What: "pods", Text: `pods could not be read: user "jane" may not list pods in namespace ml`, Command: "kubectl auth can-i list pods -n ml"},
		{What: "events", Text: `events could not be read: user "jane" may not list events in namespace ml`, Command: "kubectl auth can-i list events -n ml"},
		{What: "logs", Text: "logs were not read: no pod is known"},
	}
	return r
}

// wideRunes returns a Report with text of double width, and with zero-width marks.
func wideRunes() explain.Report {
	r := baseReport("unicode", 90)
	finish(&r, "Failed", reconcile.OutcomeFailed, 60)
	r.Verdict.Sentence = "The Job failed: 1 pod failed, and backoffLimit 0 allows 0 retries; container main exited with code 1."
	r.Evidence = []explain.Evidence{
		{Kind: explain.EvidencePod, Text: "pod unicode-abcde failed", Time: at(55)},
		{Kind: explain.EvidenceLogs, Text: "last lines of its log", Lines: []string{
			"設定ファイルが見つかりません：データセットの場所を確認してから、もう一度ジョブを作成してください。データセットの場所を確認してから、もう一度ジョブを作成してください。",
			"e\u0301te\u0301 👩🏽 \x1b[31mred\x1b[0m \u202eesrever", "a\ttab",
		}},
	}
	r.Causes = []explain.Cause{
		{Text: "container main exited with code 1", Source: explain.SourcePods, Count: 2, Ended: explain.Ended{Message: "設定ファイルが見つかりません：データセットの場所を確認してから、もう一度ジョブを作成してください。"}},
	}
	r.Pods = []explain.PodInfo{
		{Name: "日本語のとても長い名前のポッド-日本語のとても長い名前のポッド", Phase: "Failed", State: "Failed", Created: at(1), Ended: at(55), Cause: "container main exited with code 1"},
		{Name: "unicode-abcde", Phase: "Failed", State: "Failed", Created: at(1), Ended: at(58), Cause: "エラー"},
	}
	return r
}

// listFixture returns a ReportList of five of the fixtures.
func listFixture() explain.ReportList {
	l := explain.ReportList{Items: []explain.Report{failedByRule(), backoffLimit(), complete(), runningWithPolicy(), nothingReadable()}}
	l.Causes = []explain.Cause{
		{Text: "container main exited with code 137 (OOMKilled)", Meaning: "SIGKILL by the kernel, because its memory limit was reached", Source: explain.SourcePods, Count: 380, Jobs: []string{"nightly-report-29021", "nightly-report-29022", "nightly-report-29023", "nightly-report-29024"}, Pods: []string{"nightly-report-29021-8sk4d", "nightly-report-29022-2mzzq", "nightly-report-29023-wpl2d"}},
		{Text: "container main exited with code 1", Source: explain.SourcePods, Count: 20, Jobs: []string{"sweep", "hello"}, Pods: []string{"sweep-0-qwert"}, Ended: explain.Ended{Message: "cannot connect to db.prod.svc:5432: connection refused"}},
		{Text: "container main exited with code 42", Source: explain.SourcePods, Count: 4, Ruling: explain.Ruling{Rule: ptr.To(int32(1)), RuleName: "BadDataset", Action: "FailJob"}, Jobs: []string{"train"}, Pods: []string{"train-3-x7k2p"}},
	}
	for i, state := range []string{"failed", "failed", "completed", "is running", "failed"} {
		l.Items[i].Verdict.State = state
	}
	l.Groups = []explain.JobGroup{
		groupFixture(explain.GroupFailed, "PodFailurePolicy: container main exited with code 42", l.Items[0]),
		groupFixture(explain.GroupFailed, "BackoffLimitExceeded: container main exited with code 137 (OOMKilled)", l.Items[1]),
		groupFixture(explain.GroupFailed, "BackoffLimitExceeded", l.Items[4]),
		groupFixture(explain.GroupRunning, "container main exited with code 1", l.Items[3]),
	}
	return l
}

// groupFixture returns a group of the Jobs of the reports, newest first.
func groupFixture(state explain.GroupState, text string, reports ...explain.Report) explain.JobGroup {
	g := explain.JobGroup{State: state, Text: text, Count: int32(len(reports)), Advice: reports[0].Advice}
	for i := range reports {
		g.Jobs = append(g.Jobs, reports[i].Job.Name)
	}
	return g
}

// groupsFixture returns 20 failed Jobs with 3 causes, 9 stalled Jobs with 9 causes, and two Jobs without problems.
func groupsFixture() explain.ReportList {
	l := listFixture()
	l.Items, l.Groups = nil, nil
	add := func(n int, state explain.GroupState, text string, of func() explain.Report) {
		var group []explain.Report
		for range n {
			r := of()
			r.Verdict.State = "is stalled"
			if state == explain.GroupFailed {
				r.Verdict.State = "failed"
			}
			r.Job.Name = fmt.Sprintf("%s-%d", r.Job.Name, n-len(group))
			group = append(group, r)
		}
		l.Groups = append(l.Groups, groupFixture(state, text, group...))
		l.Items = append(l.Items, group...)
	}
	add(14, explain.GroupFailed, "BackoffLimitExceeded: container main exited with code 137 (OOMKilled)", backoffLimit)
	add(5, explain.GroupFailed, "PodFailurePolicy: container main exited with code 42", failedByRule)
	add(1, explain.GroupFailed, "BackoffLimitExceeded", nothingReadable)
	for i := range 9 {
		add(1, explain.GroupStalled, fmt.Sprintf("pods cannot be created: ResourceQuota team-%d is exhausted", i), func() explain.Report {
			r := stalledByQuota()
			r.Job.Name = fmt.Sprintf("etl-%d", i)
			return r
		})
	}
	for i, r := range []explain.Report{complete(), runningWithPolicy()} {
		r.Verdict.State = []string{"completed", "is running"}[i]
		l.Items = append(l.Items, r)
	}
	return l
}
