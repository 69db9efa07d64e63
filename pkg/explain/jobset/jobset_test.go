package jobset_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/jobset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	failed = `{"type": "Failed", "status": "True", "reason": "%", "message": "jobset failed (first failed job: train-leader-0)", "lastTransitionTime": "2026-03-01T11:50:00Z"}`
	order  = `{"type": "StartupPolicyInProgress", "status": "True", "reason": "InOrderStartupPolicyInProgress", "lastTransitionTime": "2026-03-01T11:50:00Z"}`
	counts = `{"name": "a", "active": 1}, {"name": "b"}`
	gpu    = `"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {"containers": [{"name": "trainer", "resources": {"requests": {"cpu": 1, "nvidia.com/gpu": 1}}}]}}}}}]`
)

// job returns the report on a Job of the JobSet.
func job(name string, change func(*explain.Report)) explain.Report {
	r := explain.Report{Job: explain.Job{Namespace: "ns", Name: name, Owner: &explain.Owner{Kind: "JobSet", Name: "train"}, Created: ptr.To(metav1.NewTime(noon.Add(-time.Hour)))}}
	change(&r)
	return r
}

func exited(r *explain.Report) {
	failing(r)
	r.Verdict.WaitsFor, r.Job.Finished = nil, &metav1.Time{Time: noon}
}

func failing(r *explain.Report) {
	r.Verdict.Outcome, r.Verdict.Cause = reconcile.OutcomeFailed, &explain.DecidingCause{Text: "container main exited with code 3: no data"}
	r.Verdict.WaitsFor = &explain.WaitsFor{Terminating: 1}
}

func retrying(r *explain.Report) {
	r.Counts.Failed = 1
	r.Causes = []explain.Cause{{Text: "Container main exited with code 3", Ended: explain.Ended{ExitCode: ptr.To[int32](3), LastLine: "no data"}}}
}

func stalled(r *explain.Report) { r.Verdict.Stalled = true }

func suspended(r *explain.Report) {
	r.Job.Suspend, r.Verdict.Problem = true, ptr.To[int32](0)
	r.Problems = []explain.Problem{{Kind: explain.ProblemSuspended, Suspension: explain.Suspension{Owner: r.Job.Owner}}}
}

func held(r *explain.Report) {
	suspended(r)
	r.Problems[0].Suspension = explain.Suspension{Queue: "ml", Hold: &kueue.Hold{FlavorReason: kueue.FlavorReason{Kind: kueue.NoResource, Resource: "cpu"}}}
}

// A JobSet is explained by its conditions, the Job that decided and the policy; without Jobs, by its events.
// Requirements: JST-01, JST-02.
func TestJobSetIsExplained(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, status string
		labels       string
		untouched    bool
		replicated   string
		jobs         []explain.Report
		workload     *kueue.Workload
		event        *input.Event
		state        explain.JobSetState
		first, notes string
		unsaid       string
		advice       string
		command      string
	}{
		"a failed Job, no policy": {
			spec: `"successPolicy": {"operator": "Any", "targetReplicatedJobs": ["workers"]}`, status: strings.Replace(failed, "%", "FailedJobs", 1),
			jobs:    []explain.Report{job("train-workers-0", func(r *explain.Report) { r.Counts.Active = 1 }), job("train-leader-0", exited)},
			state:   explain.JobSetFailed,
			first:   "JobSet train failed 10m ago: its Job train-leader-0 failed: container main exited with code 3: no data.",
			notes:   "It has no failurePolicy, so the first Job that fails ends it, although its successPolicy is only about workers. Its Job train-workers-0 still runs, which its controller should have deleted at its end.",
			command: "kubectl get jobset train -o yaml -n ns",
		},
		"a Job that waits for the end of a pod": {
			spec: `"replicatedJobs": [{"name": "a"}]`, jobs: []explain.Report{job("train-a-0", failing)}, state: explain.JobSetRunning,
			first: "JobSet train is running: 0 of its 1 Job succeeded; its Job train-a-0 is failing: container main exited with code 3: no data; it waits for 1 terminating pod.",
		},
		"a Job that retries": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b"}]`, jobs: []explain.Report{job("train-a-0", func(*explain.Report) {}), job("train-b-0", retrying)}, state: explain.JobSetRunning,
			first: "JobSet train is running: 0 of its 2 Jobs succeeded; its Job train-b-0 has 1 failed pod: container main exited with code 3: no data; 3 restarts so far.",
		},
		"restarts used up": {
			spec: `"failurePolicy": {"maxRestarts": 3}`, status: strings.Replace(failed, "%", "ReachedMaxRestarts", 1), state: explain.JobSetFailed,
			jobs:  []explain.Report{job("train-leader-0", exited)},
			notes: "Its failurePolicy allows no more restarts (maxRestarts 3).", unsaid: "was restarted",
		},
		"a rule fails it, and the Job is gone": {
			spec: `"failurePolicy": {"maxRestarts": 3, "rules": [{"name": "bad", "action": "FailJobSet"}]}`, status: strings.Replace(failed, "%", "FailJobSetFailurePolicyAction", 1),
			jobs: []explain.Report{job("train-leader-1", exited)}, state: explain.JobSetFailed,
			first: "JobSet train failed 10m ago: its Job train-leader-0 failed; rule bad of its failurePolicy has the action FailJobSet;",
		},
		"in order": {
			spec:   `"replicatedJobs": [{"name": "a"}, {"name": "b", "dependsOn": [{"name": "a", "status": "Complete"}]}]`,
			status: order, jobs: []explain.Report{job("train-a-0", stalled)}, state: explain.JobSetStarting,
			first: "JobSet train waits for its Job train-a-0, which is stalled for 1h; its replicatedJob b starts when a is Complete (startupPolicy InOrder);",
		},
		"InOrder": {
			spec:   `"startupPolicy": {"startupPolicyOrder": "InOrder"}, "replicatedJobs": [{"name": "a"}, {"name": "b"}]`,
			status: order, jobs: []explain.Report{job("train-a-0", stalled)}, state: explain.JobSetStarting,
			first: "JobSet train waits for its Job train-a-0, which is stalled for 1h; its replicatedJob b starts when a is Ready (startupPolicy InOrder); 3 restarts so far.",
		},
		"suspended": {spec: `"suspend": true`, state: explain.JobSetSuspended, first: "JobSet train is suspended (spec.suspend)", command: `kubectl patch jobset train --type merge -p '{"spec":{"suspend":false}}' -n ns`},
		"suspended, with a queue": {
			spec: `"suspend": true`, labels: `"kueue.x-k8s.io/queue-name": "ml"`, state: explain.JobSetSuspended,
			first: "JobSet train is suspended (spec.suspend)", command: "kubectl get workloads.kueue.x-k8s.io -n ns",
		},
		"suspended by Kueue, without Jobs and a status": {
			spec: `"suspend": true, "replicatedJobs": [{"name": "a"}]`, labels: `"kueue.x-k8s.io/queue-name": "ml"`, untouched: true, state: explain.JobSetSuspended,
			workload: &kueue.Workload{
				Name: "jobset-train-1", Queue: "ml", Checks: []kueue.AdmissionCheck{{Name: "multikueue", State: "Pending"}},
				Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "True"}},
			},
			first: "Kueue has reserved quota for JobSet train (queue ml) and waits for admission check multikueue (Pending).", unsaid: "does not act",
			command: "kubectl describe workloads.kueue.x-k8s.io jobset-train-1 -n ns",
		},
		"a pod that its Job replaced": {
			spec: `"failurePolicy": {"maxRestarts": 3}, "replicatedJobs": [{"name": "a"}]`, jobs: []explain.Report{job("train-a-0", retrying)}, state: explain.JobSetRunning,
			first: "JobSet train is running: 0 of its 1 Job succeeded; its Job train-a-0 has 1 failed pod: ", advice: "restarts its Jobs only when one of them fails",
		},
		"suspended, without Jobs and a status": {
			spec: `"suspend": true, "replicatedJobs": [{"name": "a"}, {"name": "b", "replicas": 2}]`, untouched: true, state: explain.JobSetNoJobs,
			first:   "JobSet train was created 2h ago and has no Jobs and no status: the JobSet controller does not act on it.",
			notes:   "It should have 3 Jobs (replicatedJobs a and b), although spec.suspend is true: those of a suspended JobSet are created suspended.",
			command: "kubectl get pods -n jobset-system",
		},
		"of another controller": {
			spec: `"managedBy": "kueue.x-k8s.io/multikueue"`, untouched: true, state: explain.JobSetNoJobs,
			first:   "JobSet train was created 2h ago and has no Jobs: controller kueue.x-k8s.io/multikueue is to run it (spec.managedBy).",
			command: "kubectl get jobset train -o yaml -n ns",
		},
		"Kueue has no room": {
			spec: `"suspend": true`, jobs: []explain.Report{job("train-a-0", held)}, state: explain.JobSetSuspended, unsaid: "spec.suspend",
			first: "Kueue keeps JobSet train suspended: the ClusterQueue of queue ml has no quota for cpu",
		},
		"Jobs suspended":               {jobs: []explain.Report{job("train-a-0", suspended)}, state: explain.JobSetJobsSuspended, first: "JobSet train is not suspended, but its Job train-a-0 is suspended for 1h; 3 restarts so far.", command: "kubectl batchjob why train-a-0 -n ns"},
		"running":                      {spec: `"replicatedJobs": [{"name": "a", "replicas": 4}]`, jobs: []explain.Report{job("train-a-0", func(*explain.Report) {})}, state: explain.JobSetRunning, first: "JobSet train is running: 0 of its 4 Jobs succeeded; 3 restarts so far."},
		"no Service may have its name": {spec: `"network": {"subdomain": "llama.4535"}`, state: explain.JobSetNoJobs, first: "JobSet train has no Jobs, as it cannot create its Service: the name llama.4535 is not allowed for a Service", command: "kubectl get jobset train -o yaml -n ns"},
		"one replicatedJob without Jobs, whose template is not valid": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b", "template": {"spec": {"completionMode": "Indexed", "parallelism": 1, "template": {"spec": {"restartPolicy": "Never"}}}}}]`,
			jobs: []explain.Report{job("train-a-0", func(*explain.Report) {})}, state: explain.JobSetJobsMissing, replicated: counts,
			first:   "JobSet train has had no Job of replicatedJob b for 1h, likely due to its template: an Indexed Job needs completions, the number of its indexes",
			command: "kubectl get jobset train -o yaml -n ns",
		},
		"one replicatedJob without Jobs": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b", "template": {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}}}]`,
			jobs: []explain.Report{job("train-a-0", stalled)}, state: explain.JobSetJobsMissing, replicated: counts,
			first:   "JobSet train has had no Job of replicatedJob b for 1h, and only the log of the JobSet controller says why",
			command: "kubectl logs deployment/jobset-controller-manager -n jobset-system",
		},
		"a replicatedJob whose Job has just been counted": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b"}]`,
			jobs: []explain.Report{job("train-a-0", func(*explain.Report) {}), job("train-b-0", func(*explain.Report) {})}, state: explain.JobSetRunning, replicated: counts,
			first: "JobSet train is running",
		},
		"Jobs that are being created": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b"}]`,
			jobs: []explain.Report{job("train-a-0", func(r *explain.Report) { r.Job.Created = ptr.To(metav1.NewTime(noon.Add(-3 * time.Second))) })}, state: explain.JobSetRunning, replicated: counts,
			first: "JobSet train is running",
		},
		"no Jobs, no one": {state: explain.JobSetNoJobs, first: "JobSet train was created 2h ago and has no Jobs, and no event says why", command: "kubectl describe jobset train -n ns"},
		"invalid Jobs": {
			spec: gpu, state: explain.JobSetCreationRefused,
			event:   &input.Event{Reason: "JobCreationFailed", Message: `job "train-node-0" creation failed with error: Job.batch "train-node-0" is invalid: spec.template.spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources`},
			first:   "JobSet train cannot create its Job train-node-0: container trainer requests nvidia.com/gpu without equal limits;",
			command: "kubectl get jobset train -o yaml -n ns",
		},
		"one replicatedJob without Jobs, and an event about its Job": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b"}]`, jobs: []explain.Report{job("train-a-0", func(*explain.Report) {})}, replicated: counts,
			event: &input.Event{Reason: "JobCreationFailed", Message: `job "train-b-0" creation failed with error: Job.batch "train-b-0" is invalid: spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`},
			state: explain.JobSetCreationRefused,
			first: "JobSet train cannot create its Job train-b-0: the API server rejects the pod template as invalid", notes: `only "Never" is supported`, unsaid: "likely",
			command: "kubectl get jobset train -o yaml -n ns",
		},
		"one replicatedJob without Jobs, and an event about another one": {
			spec: `"replicatedJobs": [{"name": "a"}, {"name": "b"}]`, jobs: []explain.Report{job("train-a-0", func(*explain.Report) {})}, replicated: counts,
			event: &input.Event{Reason: "JobCreationFailed", Message: `job "train-a-0" creation failed with error: jobs.batch "train-a-0" already exists`},
			state: explain.JobSetJobsMissing, first: "RestartPolicy must be", notes: "JobSet train has had no Job of replicatedJob b", command: "kubectl get jobset train -o yaml -n ns",
		},
		"no Service": {
			event: &input.Event{Reason: "HeadlessServiceCreationFailed", Message: `services "train" is forbidden: exceeded quota: objects, requested: services=1, used: services=5, limited: services=5`},
			state: explain.JobSetCreationRefused, first: "JobSet train cannot create its Jobs: ResourceQuota objects is exhausted", command: "kubectl describe resourcequota objects -n ns",
		},
	} {
		in := input.JobSet{Now: noon, Namespace: "ns", Name: "train", Jobs: len(tc.jobs), Workload: tc.workload}
		status := `{"restarts": 3, "conditions": [` + tc.status + `], "replicatedJobsStatus": [` + tc.replicated + `]}`
		if tc.untouched {
			status = "{}"
		}
		text := `{"metadata": {"creationTimestamp": "2026-03-01T10:00:00Z", "labels": {` + tc.labels + `}}, "spec": {` + tc.spec + `}, "status": ` + status + `}`
		assert.NoError(t, json.Unmarshal([]byte(text), &in.JobSet), name)
		if tc.event != nil {
			in.Events = []input.Event{*tc.event}
		}
		r := jobset.Explain(in, tc.jobs)
		advice, command := "", ""
		if len(r.Advice) > 0 {
			advice, command = r.Advice[0].Text, r.Advice[0].Command
		}
		if !strings.Contains(advice, tc.advice) || r.State != tc.state || !strings.HasPrefix(r.Sentence, tc.first) || !strings.Contains(strings.Join(r.Notes, " "), tc.notes) || command != tc.command || tc.unsaid != "" && strings.Contains(r.Sentence+strings.Join(r.Notes, " "), tc.unsaid) {
			t.Errorf("%s: %s, %q %q, %s", name, r.State, r.Sentence, r.Notes, command)
		}
		if utf8.RuneCountInString(r.Sentence) > 160 {
			t.Errorf("%s: %d characters", name, utf8.RuneCountInString(r.Sentence))
		}
	}
	if r := jobset.Explain(input.JobSet{Name: "train"}, nil); r.State != explain.JobSetGone || r.Sentence != "JobSet train no longer exists." {
		t.Errorf("%+v", r)
	}
	if r := jobset.Explain(input.JobSet{Name: "train", Gaps: []input.Gap{{}}}, nil); r.State != explain.JobSetUnread || r.Sentence != "JobSet train could not be read." {
		t.Errorf("%+v", r)
	}
}
