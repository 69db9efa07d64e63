package gather_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func names(f input.Input) (out []string) {
	for i := range f.Pods {
		out = append(out, f.Pods[i].Name)
	}
	return out
}

// CLI-08: with read permissions nothing is missing, and only GET requests are sent.
func TestReaderMissesNothing(t *testing.T) {
	s := &server{
		pods: []corev1.Pod{pod("train-a", "uid-train", failed), pod("train-b", "uid-train", nil)},
		events: []corev1.Event{event("1", "train-a"), {
			ObjectMeta:     metav1.ObjectMeta{Name: "2"},
			InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "train", UID: "uid-train"}, Reason: "SuccessfulCreate",
		}, {
			ObjectMeta:     metav1.ObjectMeta{Name: "3"},
			InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "train", UID: "uid-before"}, Reason: "Old",
		}},
		leases: []coordinationv1.Lease{ourLease("s", "ns", 0), {ObjectMeta: metav1.ObjectMeta{Name: "other"}}},
		logs:   map[string]string{"train-a": "one\ntwo\n\n"},
	}
	f := read(t, s, train())
	if len(f.Gaps) != 0 || !f.PodsRead || !f.EventsRead || len(f.Pods) != 2 {
		t.Errorf("pods %v, gaps %+v", names(f), f.Gaps)
	}
	if len(f.Events) != 2 || f.Events[0].Reason != "SuccessfulCreate" || f.Events[1].Pod != "train-a" {
		t.Errorf("%+v", f.Events)
	}
	if f.Lease == nil || f.Lease.Holder != "me" {
		t.Errorf("%+v", f.Lease)
	}
	if len(f.Logs) != 1 || strings.Join(f.Logs[0].Lines, "|") != "one|two" {
		t.Errorf("%+v", f.Logs)
	}
	if s.requests("") != s.requests("GET ") || s.requests("/nodes") != 0 || s.requests("tailLines=10") != 1 {
		t.Errorf("%q", s.asked)
	}
}

// Pods come in pages; pods with the same labels that another Job controls, or that have no controller, are left out. Not even
// for a Job without a selector are all pods of a namespace read.
// Requirements: CLI-08, POL-02
func TestPodsOfOthersAreLeftOut(t *testing.T) {
	s := &server{}
	for i := range 2100 {
		s.pods = append(s.pods, pod(fmt.Sprintf("train-%03d", i), "uid-train", nil))
	}
	s.pods = append(s.pods, pod("thief", "uid-other", nil), pod("stray", "", func(p *corev1.Pod) { p.OwnerReferences = nil }),
		pod("crd", "uid-train", func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "example.com/v1" }))
	f := read(t, s, train())
	if len(f.Pods) != 2100 || s.requests("/pods?") != 2 || s.requests("labelSelector=job%3Dtrain") != 2 {
		t.Errorf("%d pods in %d pages", len(f.Pods), s.requests("/pods?"))
	}
	job := train()
	job.Spec.Selector = nil
	if f := read(t, s, job); len(f.Pods) != 2100 || s.requests("labelSelector=batch.kubernetes.io%2Fjob-name%3Dtrain") != 2 {
		t.Errorf("without a selector: %d pods, %q", len(f.Pods), s.asked)
	}
	job.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}}}
	if f := read(t, s, job); f.PodsRead || len(f.Pods) != 0 {
		t.Errorf("with a selector that is none: %d pods", len(f.Pods))
	} else {
		wantGap(t, f, "pods", "", "the Job's selector")
	}
}

// An expired continue token does not fail the list: it is read again, as a whole.
// Requirements: CLI-08
func TestExpiredContinueTokenEndsNoList(t *testing.T) {
	for _, resource := range []string{"pods", "events"} {
		s := &server{refuse: func(r *http.Request) (int, metav1.StatusReason) {
			if r.URL.Query().Get("continue") != "" && strings.HasSuffix(r.URL.Path, "/"+resource) {
				return http.StatusGone, metav1.StatusReasonExpired
			}
			return 0, ""
		}}
		for i := range 2100 {
			s.pods = append(s.pods, pod(fmt.Sprintf("train-%03d", i), "uid-train", nil))
			s.events = append(s.events, event(fmt.Sprint(i), "train-001"))
		}
		if f := read(t, s, train()); len(f.Pods) != 2100 || len(f.Events) != 2100 || len(f.Gaps) != 0 {
			t.Errorf("%s: %d pods, %d events, %+v", resource, len(f.Pods), len(f.Events), f.Gaps)
		}
	}
}

// Events of pods of other Jobs with similar names are left out.
// Requirements: CLI-04
func TestEventsOfSimilarNamesAreLeftOut(t *testing.T) {
	indexed := func(j *batchv1.Job) { j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }
	for _, tc := range []struct {
		name, about string
		change      func(*batchv1.Job)
		want        bool
	}{
		{"gone", "train-xk2p9", nil, true},
		{"gone, of an index", "train-7-xk2p9", indexed, true},
		{"of Job train-2", "train-2-xk2p9", nil, false},
		{"of Job train-eval", "train-eval-xk2p9", nil, false},
		{"of Job train-eval, indexed", "train-eval-0-xk2p9", indexed, false},
		{"of Job training", "training-xk2p9", nil, false},
		{"of an index of Job train-2", "train-2-0-xk2p9", indexed, false},
	} {
		job := train()
		if tc.change != nil {
			tc.change(job)
		}
		f := read(t, &server{events: []corev1.Event{event("1", tc.about)}}, job)
		assert.Equalf(t, len(f.Events) == 1, tc.want, "%s: the event of pod %s is read", tc.name, tc.about)
	}
}

// An event older than the Job belongs to an earlier Job of the same name. An event that only has the newer API's eventTime is
// kept.
// Requirements: CLI-04
func TestEventsFromBeforeTheJobAreLeftOut(t *testing.T) {
	old := event("old", "train-xk2p9")
	old.LastTimestamp = ago(2 * time.Hour)
	micro := event("micro", "train-xk2p9")
	micro.LastTimestamp, micro.EventTime, micro.Reason = metav1.Time{}, metav1.NewMicroTime(noon.Add(-time.Minute)), "FailedScheduling"
	f := read(t, &server{events: []corev1.Event{old, micro}}, train())
	if len(f.Events) != 1 || f.Events[0].Reason != "FailedScheduling" {
		t.Errorf("%+v", f.Events)
	}
}

// At most 5,000 events of pods are searched, and the limit is reported.
// Requirements: CLI-08
func TestEventsAreBounded(t *testing.T) {
	for n, complete := range map[int]bool{5000: true, 5001: false} {
		s := &server{}
		for i := range n {
			s.events = append(s.events, event(fmt.Sprint(i), "other-x"))
		}
		f := read(t, s, train())
		if f.EventsRead != complete || len(f.Gaps) > 0 == complete {
			t.Errorf("%d events: read %v, %+v", n, f.EventsRead, f.Gaps)
		}
		if !complete {
			wantGap(t, f, "events", "", "only 5000 of those about pods")
		}
	}
}

// CLI-08: a missing permission does not affect the other data.
func TestMissingPermissionLeavesTheRest(t *testing.T) {
	late := func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(time.Hour)), ptr.To[int64](30)
	}
	for what, tc := range map[string]struct {
		path, command string
		silent        bool
	}{
		"pods":     {path: "/pods", command: "kubectl auth can-i list pods -n ns"},
		"events":   {path: "/events", command: "kubectl auth can-i list events -n ns"},
		"pods/log": {path: "/log", command: "kubectl auth can-i get pods --subresource=log -n ns"},
		"nodes":    {path: "/nodes/node-1", command: "kubectl auth can-i get nodes"},
		"leases":   {path: "/leases", silent: true},
	} {
		s := &server{
			pods:   []corev1.Pod{pod("train-a", "uid-train", failed), pod("train-b", "uid-train", late)},
			events: []corev1.Event{event("1", "train-a")}, logs: map[string]string{"train-a": "x"},
			leases: []coordinationv1.Lease{ourLease("s", "ns", 0)},
			refuse: func(r *http.Request) (int, metav1.StatusReason) {
				if strings.HasSuffix(r.URL.Path, tc.path) {
					return http.StatusForbidden, metav1.StatusReasonForbidden
				}
				return 0, ""
			},
		}
		f := read(t, s, train())
		if tc.silent {
			if len(f.Gaps) != 0 || f.Lease != nil {
				t.Errorf("%s: %+v, %+v", what, f.Gaps, f.Lease)
			}
			continue
		}
		wantGap(t, f, what, tc.command, "no permission to")
		if len(f.Gaps) != 1 || f.PodsRead != (what != "pods") || f.EventsRead != (what != "events") || f.Lease == nil {
			t.Errorf("without %s: pods %v, events %v, lease %v, gaps %+v", what, f.PodsRead, f.EventsRead, f.Lease, f.Gaps)
		}
		assert.Equalf(t, f.GoneNodes["node-1"] != "", what != "nodes" && what != "pods", "without %s: nodes %v", what, f.GoneNodes)
	}
}

// PRP-23: nodes of pods that should have ended are looked up, five at most.
func TestNodesOfStuckPodsAreRead(t *testing.T) {
	s := &server{nodes: []corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "node-2"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "node-3"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}},
	}}
	for i, since := range []time.Duration{time.Hour, time.Hour, time.Hour, -time.Minute} {
		s.pods = append(s.pods, pod(fmt.Sprint("train-", i), "uid-train", func(p *corev1.Pod) {
			p.Spec.NodeName = fmt.Sprint("node-", i+1)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(since)), ptr.To[int64](30)
		}))
	}
	f := read(t, s, train())
	if len(f.GoneNodes) != 2 || f.GoneNodes["node-1"] != "it no longer exists" || f.GoneNodes["node-2"] != "it does not respond" || s.requests("/nodes/") != 3 {
		t.Errorf("%v after %d requests", f.GoneNodes, s.requests("/nodes/"))
	}
	for i := range 20 {
		p := s.pods[0]
		p.Name, p.UID, p.Spec.NodeName = fmt.Sprint("more-", i), "", fmt.Sprint("gone-", i)
		s.pods = append(s.pods, p)
	}
	s.asked = nil
	if read(t, s, train()); s.requests("/nodes/") != 5 {
		t.Errorf("%d nodes are looked at", s.requests("/nodes/"))
	}
}

// created returns the Lease with a creation time, which only the API server sets.
func created(l coordinationv1.Lease, age time.Duration) coordinationv1.Lease {
	l.CreationTimestamp = metav1.NewTime(noon.Add(-age))
	return l
}

// A user who may edit Leases in some namespace can create one that looks like the controller's.
// Requirements: CLI-10
func TestLeaseOfAnotherNamespaceDoesNotOutvote(t *testing.T) {
	dead := created(ourLease("platform", "ns", time.Hour), 24*time.Hour)
	forged := created(ourLease("team-x", "ns", time.Second), time.Hour)
	system := created(ourLease("batchjob-system", "ns", 2*time.Hour), time.Minute)
	renewed := created(ourLease("platform", "ns", time.Minute), 24*time.Hour)
	for name, tc := range map[string]struct {
		leases    []coordinationv1.Lease
		namespace string
		renewed   time.Duration
	}{
		"the oldest counts":                     {[]coordinationv1.Lease{forged, dead}, "platform", time.Hour},
		"that of config/default counts":         {[]coordinationv1.Lease{forged, dead, system}, "batchjob-system", 2 * time.Hour},
		"of one namespace, the last one counts": {[]coordinationv1.Lease{forged, dead, renewed}, "platform", time.Minute},
	} {
		s := &server{leases: tc.leases}
		if f := read(t, s, train()); f.Lease == nil || f.Lease.Elsewhere == nil || f.Lease.Elsewhere.Namespace != "team-x" || f.Lease.Namespace != tc.namespace || !f.Lease.Renewed.Equal(noon.Add(-tc.renewed)) {
			t.Errorf("%s: %+v", name, f.Lease)
		}
	}
	job := train()
	job.Spec.ManagedBy = nil
	if f := read(t, &server{leases: []coordinationv1.Lease{dead}}, job); f.Lease != nil {
		t.Errorf("the built-in controller has our Lease: %+v", f.Lease)
	}
}

// A user who may not list the Leases of the cluster may be allowed to list the Leases in the namespace of config/default.
// Requirements: CLI-06, CLI-08
func TestLeaseOfTheSystemNamespaceIsEnough(t *testing.T) {
	s := &server{leases: []coordinationv1.Lease{ourLease("batchjob-system", "ns", time.Second)}}
	s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
		if strings.HasSuffix(r.URL.Path, "/leases") && !strings.Contains(r.URL.Path, "/namespaces/batchjob-system/") {
			return http.StatusForbidden, metav1.StatusReasonForbidden
		}
		return 0, ""
	}
	if f := read(t, s, train()); f.Lease == nil || len(f.Gaps) != 0 {
		t.Errorf("%+v, %+v", f.Lease, f.Gaps)
	}
	s.leases = nil // The Lease may be in another namespace.
	if lease, err := gather.ReadLease(t.Context(), s.client(t), ourLeases{}, "batchjob.dev/controller", "ns"); lease != nil || !apierrors.IsForbidden(err) {
		t.Errorf("%+v, %v", lease, err)
	}
}

// The Lease of a shard counts for the namespaces of the shard, and one request finds the Leases of all shards.
// Requirements: CLI-06
func TestLeaseOfTheShardCounts(t *testing.T) {
	s := &server{leases: []coordinationv1.Lease{ourLease("sys", "other", time.Second), ourLease("sys", "ns", time.Hour)}}
	reader := gather.NewReader(s.client(t), gather.Options{OurName: "batchjob.dev/controller", Leases: ourLeases{}})
	for namespace, want := range map[string]time.Time{"ns": noon.Add(-time.Hour), "other": noon.Add(-time.Second)} {
		job := train()
		job.Namespace = namespace
		if f := reader.Read(t.Context(), job, nil, noon); f.Lease == nil || !f.Lease.Renewed.Equal(want) {
			t.Errorf("%s: %+v", namespace, f.Lease)
		}
	}
	job := train()
	job.Namespace = "of-no-shard"
	if f := reader.Read(t.Context(), job, nil, noon); f.Lease != nil {
		t.Errorf("%+v", f.Lease)
	}
	assert.Equalf(t, s.requests("/leases?"), 1, "requests for Leases: %q", s.asked)
}

// At most three logs are read, and 64 KiB of each are kept.
// Requirements: CLI-04
func TestLogsOfFewContainersAreRead(t *testing.T) {
	s := &server{logs: map[string]string{}}
	for i := range 5 {
		name := fmt.Sprint("train-", i)
		s.pods = append(s.pods, pod(name, "uid-train", func(p *corev1.Pod) {
			failed(p)
			p.Status.ContainerStatuses[0].State.Terminated.ExitCode = int32(i + 1)
		}))
		s.logs[name] = strings.Repeat("x", 100_000) + "the end"
	}
	f := read(t, s, train())
	if len(f.Logs) != 3 || s.requests("/log?") != 3 {
		t.Errorf("%d logs in %d requests", len(f.Logs), s.requests("/log?"))
	}
	for _, l := range f.Logs {
		if len(l.Lines[0]) > 64<<10 || !strings.HasSuffix(l.Lines[0], "the end") {
			t.Errorf("%d bytes are kept", len(l.Lines[0]))
		}
	}
	s.logs = map[string]string{}
	wantGap(t, read(t, s, train()), "logs", "", "it is gone")
}

// The log of the first attempt is read only if a retry failed because of what that left.
// Requirements: CLI-04
func TestLogOfTheFirstAttemptIsReadAfterACollision(t *testing.T) {
	at := func(start, end time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			failed(p)
			p.Status.ContainerStatuses[0].State.Terminated.StartedAt, p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = ago(start), ago(end)
		}
	}
	for retry, want := range map[string]int{"error: table a already exists": 2, "error: no table a": 1} {
		s := &server{
			pods: []corev1.Pod{pod("train-a", "uid-train", at(4*time.Hour, 3*time.Hour)), pod("train-b", "uid-train", at(2*time.Hour, time.Hour))},
			logs: map[string]string{"train-a": "error: no data", "train-b": retry},
		}
		if f := read(t, s, train()); len(f.Logs) != want || f.Logs[0].Pod != "train-b" {
			t.Errorf("%s: %+v", retry, f.Logs)
		}
	}
}

// If the server or the user aborts in the middle, the data read so far is kept.
// Requirements: CLI-08
func TestInterruptKeepsWhatWasRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &server{pods: []corev1.Pod{pod("train-a", "uid-train", failed)}}
	s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			cancel()
		}
		return 0, ""
	}
	f := gather.NewReader(s.client(t), gather.Options{}).Read(ctx, train(), nil, noon)
	if len(f.Pods) != 1 || f.EventsRead || len(f.Gaps) == 0 {
		t.Errorf("pods %v, gaps %+v", names(f), f.Gaps)
	}
}

// Events about pods of any name do not panic.
func FuzzEventNames(f *testing.F) {
	f.Add("train", "a-"+strings.Repeat("0", 63)+"-bcdfg")
	f.Add("train", "train-7-xk2p9")
	f.Add(strings.Repeat("a", 63), strings.Repeat("a", 58)+"bcdfg")
	f.Fuzz(func(t *testing.T, job, about string) {
		j := train()
		j.Name, j.Spec.CompletionMode = job, ptr.To(batchv1.IndexedCompletion)
		read(t, &server{events: []corev1.Event{event("1", about)}}, j)
	})
}

// The events of pods are added to Jobs that were read without them, in one request for all of these Jobs.
// Requirements: CRJ-01, CLI-09
func TestEventsOfPodsAreAddedLater(t *testing.T) {
	job := train()
	s := &server{pods: []corev1.Pod{pod("train-a", "uid-train", nil)}, events: []corev1.Event{event("1", "train-a"), event("2", "other-b")}}
	reader := gather.NewReader(s.client(t), gather.Options{WithoutPodEvents: true})
	in := reader.Read(t.Context(), job, nil, noon)
	before := len(s.asked)
	events := reader.PodEvents(t.Context(), job.Namespace)
	events.AddTo(&in)
	if len(in.Events) != 1 || in.Events[0].Pod != "train-a" || !in.EventsRead || len(s.asked) != before+1 {
		t.Errorf("%+v after %q", in.Events, s.asked[before:])
	}
}
