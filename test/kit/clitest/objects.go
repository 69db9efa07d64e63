package clitest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Objects is a server in front of the fake API that also serves the other objects an explanation reads: events of ns1,
// whose watches deliver nothing. It has no leases and no nodes.
type Objects struct {
	API  *API
	Pods *Pods

	Mu      sync.Mutex
	Events  []*corev1.Event
	asked   []string
	queries []string
}

// NewObjects starts an API with these Jobs that also serves pods, logs and events.
func NewObjects(t testing.TB, jobs ...*unstructured.Unstructured) *Objects {
	t.Helper()
	api, pods := NewPods(t, jobs...)
	o := &Objects{API: api, Pods: pods}
	api.Server.Close()
	api.Server = httptest.NewServer(o)
	api.Address = api.Server.Listener.Addr().String()
	return o
}

func (o *Objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.Mu.Lock()
	o.asked = append(o.asked, r.Method+" "+r.URL.Path)
	o.queries = append(o.queries, r.URL.Path+"?"+r.URL.RawQuery)
	o.Mu.Unlock()
	o.API.Await(r)
	o.API.Mu.Lock()
	refuse := o.API.Refuse
	_, answered := o.API.Answers[strings.Trim(r.URL.Path, "/")]
	o.API.Mu.Unlock()
	p, _ := ParsePath(r.URL.Path)
	served := p.Name == "" && !answered && (p.Resource == "events" && p.Namespace == "ns1" || p.Resource == "leases" && p.Namespace == "")
	if served && refuse != nil {
		if status := refuse(r); status != nil {
			WriteStatus(w, status, "")
			return
		}
	}
	switch {
	case !served:
		o.API.Serve(w, r)
	case r.URL.Query().Get("watch") == "true":
		WatchForever(w, r)
	case p.Resource == "leases":
		ServeObjects(w, r, p, "Lease", 1, []*unstructured.Unstructured{}, nil)
	default:
		o.Mu.Lock()
		defer o.Mu.Unlock()
		ServeObjects(w, r, p, "Event", 1, o.Events, func(e *corev1.Event) fields.Set {
			about := e.InvolvedObject
			return fields.Set{"involvedObject.kind": about.Kind, "involvedObject.name": about.Name, "involvedObject.uid": string(about.UID), "type": e.Type}
		})
	}
}

// Methods returns the set of HTTP methods used so far.
func (o *Objects) Methods() map[string]bool {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	used := map[string]bool{}
	for _, line := range o.asked {
		method, _, _ := strings.Cut(line, " ")
		used[method] = true
	}
	return used
}

// Queries returns the paths and queries of the requests so far whose path ends in suffix.
func (o *Objects) Queries(suffix string) []string {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.queries), func(q string) bool {
		path, _, _ := strings.Cut(q, "?")
		return !strings.HasSuffix(path, suffix)
	})
}

// RefusePath makes requests whose path ends in suffix fail.
func (o *Objects) RefusePath(suffix string, code int, reason string) {
	o.API.SetRefuse(func(r *http.Request) *Status {
		if strings.HasSuffix(r.URL.Path, suffix) {
			return &Status{code, reason, "refused by the test"}
		}
		return nil
	})
}

// EndedPod returns a pod of the Job whose container main exited with the code a minute ago.
func EndedPod(job *unstructured.Unstructured, name string, code int32, message string) *corev1.Pod {
	at := metav1.NewTime(Now().Add(-time.Minute))
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.GetNamespace(), Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(Now().Add(-2 * time.Minute)),
			Labels:          map[string]string{"job": job.GetName(), batchv1.JobNameLabel: job.GetName()},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.GetName(), UID: job.GetUID(), Controller: ptr.To(true)}},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed},
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message, FinishedAt: at},
	}}}
	return pod
}

// ExplainedJob returns a Job that failed by a named rule: its pod NAME-a exited with code 42.
func ExplainedJob(namespace, name string) *unstructured.Unstructured {
	message := "Container main for pod " + namespace + "/" + name + "-a failed with exit code 42 matching FailJob rule at index 0"
	condition := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "reason": "PodFailurePolicy_Corrupt", "message": message, "lastTransitionTime": "2026-03-01T11:59:00Z"}
	}
	job := SimpleJob(namespace, name, 0)
	job.SetAnnotations(map[string]string{"batchjob.dev/pod-failure-policy-rule-names": "0=Corrupt"})
	job.Object["spec"] = map[string]any{
		"completions": int64(10), "parallelism": int64(2), "backoffLimit": int64(3),
		"selector": map[string]any{"matchLabels": map[string]any{"job": name}},
		"podFailurePolicy": map[string]any{"rules": []any{map[string]any{
			"action": "FailJob", "onExitCodes": map[string]any{"operator": "In", "values": []any{int64(42)}},
		}}},
	}
	job.Object["status"] = map[string]any{
		"failed": int64(1), "startTime": "2026-03-01T11:55:00Z", "conditions": []any{condition("FailureTarget"), condition("Failed")},
	}
	return job
}

// NewExplained starts a fake API with the failed Job ns1/train, its pod, log and event.
func NewExplained(t *testing.T, more ...*unstructured.Unstructured) *Objects {
	t.Helper()
	train := ExplainedJob("ns1", "train")
	o := NewObjects(t, append(more, train)...)
	o.Pods.Put(EndedPod(train, "train-a", 42, "table is corrupt"))
	o.Pods.Write("train-a/main", "reading", "bad checksum")
	o.Events = append(o.Events, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "e1"}, Type: "Warning", Reason: "NodeHasTrouble", Message: "disk",
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "train-a", UID: "uid-train-a"},
		LastTimestamp:  metav1.NewTime(Now().Add(-time.Minute)),
	})
	return o
}
