package gather_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
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
	nodes    []corev1.Node
	claims   []corev1.PersistentVolumeClaim
	// workloads are JSON objects of Kueue, by the version of its API.
	workloads map[string][]unstructured.Unstructured
	jobSets   []unstructured.Unstructured
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
	p, _ := clitest.ParsePath(r.URL.Path)
	switch p.Resource {
	case "pods":
		if text, ok := s.logs[p.Name]; ok && p.Sub == "log" {
			_, _ = fmt.Fprint(w, text)
		} else if p.Sub == "log" {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		} else {
			clitest.ServeObjects(w, r, p, "Pod", 1, pointers(s.pods), func(pod *corev1.Pod) fields.Set {
				return fields.Set{"status.phase": string(pod.Status.Phase), "spec.nodeName": pod.Spec.NodeName}
			})
		}
	case "jobs":
		serve(w, r, p, "Job", s.jobs)
	case "cronjobs":
		serve(w, r, p, "CronJob", s.cronJobs)
	case "events":
		clitest.ServeObjects(w, r, p, "Event", 1, pointers(s.events), func(e *corev1.Event) fields.Set {
			o := e.InvolvedObject
			return fields.Set{"involvedObject.kind": o.Kind, "involvedObject.name": o.Name, "involvedObject.uid": string(o.UID), "type": e.Type}
		})
	case "leases":
		serve(w, r, p, "Lease", s.leases)
	case "nodes":
		serve(w, r, p, "Node", s.nodes)
	case "persistentvolumeclaims":
		serve(w, r, p, "PersistentVolumeClaim", s.claims)
	case "jobsets":
		serve(w, r, p, "JobSet", s.jobSets)
	case "workloads":
		if all, served := s.workloads[path.Base(p.GroupVersion)]; served {
			serve(w, r, p, "Workload", all)
			return
		}
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	default:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

func serve[T any, P interface {
	*T
	metav1.Object
}](w http.ResponseWriter, r *http.Request, p clitest.Path, kind string, objects []T) {
	clitest.ServeObjects(w, r, p, kind, 1, pointers[T, P](objects), nil)
}

func pointers[T any, P interface {
	*T
	metav1.Object
}](objects []T) (all []P) {
	for i := range objects {
		all = append(all, &objects[i])
	}
	return all
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	clitest.WriteJSON(w, code, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: int32(code), Reason: reason, Message: "refused by the test"})
}

func (s *server) client(t *testing.T) kube.Interface {
	t.Helper()
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: listener.URL, QPS: -1})
	assert.NoError(t, err)
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
			assert.Contains(t, g.Text, part, "gap")
		}
		assert.Equalf(t, g.Command, command, "gap %s has the command", what)
		return
	}
	t.Errorf("no gap %s in %+v", what, f.Gaps)
}
