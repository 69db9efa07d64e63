package gather_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// server implements the parts of an API server that gather uses: Jobs, pods, events, leases, nodes and logs of one namespace,
// in pages.
type server struct {
	jobs     []batchv1.Job
	cronJobs []batchv1.CronJob
	pods     []corev1.Pod
	events   []corev1.Event
	leases   []coordinationv1.Lease
	nodes    map[string]corev1.Node
	claims   map[string]corev1.PersistentVolumeClaim
	// workloads are JSON objects of Kueue, by the version of its API.
	workloads map[string][]map[string]any
	jobSets   map[string]any
	logs      map[string]string
	// refuse returns the code and the reason with which a request fails; 0 if it does not.
	refuse func(r *http.Request) (int, metav1.StatusReason)

	mu    sync.Mutex
	asked []string
}

func (s *server) requests(part string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.asked {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.String())
	s.mu.Unlock()
	if s.refuse != nil {
		if code, reason := s.refuse(r); code != 0 {
			fail(w, code, reason)
			return
		}
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case last == "log":
		text, ok := s.logs[parts[len(parts)-2]]
		if !ok {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		_, _ = fmt.Fprint(w, text)
	case last == "jobs":
		selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
		var found []any
		for i := range s.jobs {
			if selector.Matches(labels.Set(s.jobs[i].Labels)) {
				found = append(found, &s.jobs[i])
			}
		}
		list(w, r, "batch/v1", "JobList", found)
	case len(parts) > 1 && parts[len(parts)-2] == "jobs":
		for i := range s.jobs {
			if s.jobs[i].Name == last {
				write(w, http.StatusOK, &s.jobs[i])
				return
			}
		}
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case len(parts) > 1 && parts[len(parts)-2] == "jobsets" && s.jobSets[last] != nil:
		write(w, http.StatusOK, s.jobSets[last])
	case last == "workloads" && s.workloads[parts[2]] != nil:
		selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
		var found []any
		for _, w := range s.workloads[parts[2]] {
			of, _ := w["metadata"].(map[string]any)["labels"].(map[string]string)
			if selector.Matches(labels.Set(of)) {
				found = append(found, w)
			}
		}
		list(w, r, "kueue.x-k8s.io/"+parts[2], "WorkloadList", found)
	case len(parts) > 1 && parts[len(parts)-2] == "cronjobs":
		for i := range s.cronJobs {
			if s.cronJobs[i].Name == last {
				write(w, http.StatusOK, &s.cronJobs[i])
				return
			}
		}
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case last == "pods":
		selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
		var found []any
		for i := range s.pods {
			if selector.Matches(labels.Set(s.pods[i].Labels)) {
				found = append(found, &s.pods[i])
			}
		}
		list(w, r, "v1", "PodList", found)
	case last == "events":
		selector, _ := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
		var found []any
		for i := range s.events {
			o := s.events[i].InvolvedObject
			if selector.Matches(fields.Set{"involvedObject.kind": o.Kind, "involvedObject.name": o.Name, "involvedObject.uid": string(o.UID), "type": s.events[i].Type}) {
				found = append(found, &s.events[i])
			}
		}
		list(w, r, "v1", "EventList", found)
	case last == "leases":
		selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
		var found []any
		for i := range s.leases {
			if selector.Matches(labels.Set(s.leases[i].Labels)) {
				found = append(found, &s.leases[i])
			}
		}
		list(w, r, "coordination.k8s.io/v1", "LeaseList", found)
	case len(parts) > 1 && parts[len(parts)-2] == "nodes":
		node, ok := s.nodes[last]
		if !ok {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		write(w, http.StatusOK, &node)
	case len(parts) > 1 && parts[len(parts)-2] == "persistentvolumeclaims":
		claim, ok := s.claims[last]
		if !ok {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		write(w, http.StatusOK, &claim)
	default:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// maxPage is the maximum number of objects that the server returns for a request with a limit.
const maxPage = 2000

// list writes the page that the parameters limit and continue select.
func list(w http.ResponseWriter, r *http.Request, apiVersion, kind string, all []any) {
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	meta := map[string]any{"resourceVersion": "1"}
	page := all[min(from, len(all)):]
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && len(page) > min(limit, maxPage) {
		limit = min(limit, maxPage)
		page = page[:limit]
		meta["continue"] = strconv.Itoa(from + limit)
	}
	if page == nil {
		page = []any{}
	}
	write(w, http.StatusOK, map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "items": page})
}

func write(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	write(w, code, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: int32(code), Reason: reason, Message: "refused by the test"})
}

func (s *server) client(t *testing.T) kube.Interface {
	t.Helper()
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: listener.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// train returns the Job ns/train with selector job=train.
func train() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "uid-train", CreationTimestamp: ago(time.Hour)}}
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"job": "train"}}
	job.Spec.ManagedBy = ptr.To("batchjob.dev/controller")
	return job
}

// pod returns a pod of the Job with the UID, with the labels of train.
func pod(name string, owner types.UID, change func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"job": "train", batchv1.JobNameLabel: "train"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "x", UID: owner, Controller: ptr.To(true)}},
	}}
	p.Spec.NodeName, p.Status.Phase = "node-1", corev1.PodRunning
	if change != nil {
		change(&p)
	}
	return p
}

func failed(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: ago(time.Minute)},
	}}}
}

// event returns an event about a pod, a minute ago.
func event(name, about string) corev1.Event {
	return corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "ns", Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: about, UID: types.UID("uid-" + about)}, Type: "Warning", Reason: "BackOff", LastTimestamp: ago(time.Minute),
	}
}

// ourLeases selects Leases with the label "ours", whose value is the namespace that they are for.
type ourLeases struct{}

func (ourLeases) Selector() string { return "ours" }

func (ourLeases) IsFor(l *coordinationv1.Lease, managedBy, namespace string) bool {
	return managedBy == "batchjob.dev/controller" && l.Labels["ours"] == namespace
}

func ourLease(namespace, of string, renewed time.Duration) coordinationv1.Lease {
	return coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "lease", Labels: map[string]string{"ours": of}},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me"), RenewTime: ptr.To(metav1.NewMicroTime(noon.Add(-renewed)))},
	}
}

func read(t *testing.T, s *server, job *batchv1.Job) input.Input {
	t.Helper()
	return gather.NewReader(s.client(t), gather.Options{
		LogLines: 10, OurName: "batchjob.dev/controller", Leases: ourLeases{},
	}).Read(t.Context(), job, nil, noon)
}

func wantGap(t *testing.T, f input.Input, what, command string, parts ...string) {
	t.Helper()
	for _, g := range f.Gaps {
		if g.What != what {
			continue
		}
		for _, part := range parts {
			if !strings.Contains(g.Text, part) {
				t.Errorf("gap %q does not say %q", g.Text, part)
			}
		}
		if g.Command != command {
			t.Errorf("gap %s has the command %q, want %q", what, g.Command, command)
		}
		return
	}
	t.Errorf("no gap %s in %+v", what, f.Gaps)
}
