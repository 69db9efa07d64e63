// Package clitest runs verbs in tests, against a fake API server.
package clitest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// Pods is the part of the fake API that serves the pods of namespace ns1 and their logs.
type Pods struct {
	t testing.TB

	Mu       sync.Mutex
	Pods     []*corev1.Pod
	version  int
	events   []change
	changed  chan struct{}
	Logs     map[string]*Log // by pod/container; the suffix /previous is the previous container's log
	requests []string        // for logs, as pod?query, in order
	Pages    int
	open     int // number of logs being served
	Most     int
	Watches  int
	cuts     int
	Blind    bool               // watches deliver nothing
	Refuse   map[string]*Status // errors for log requests, by pod
}

// Log is a container's log: one line per second starting at 12:00:00, unless a line sets another time.
type Log struct {
	lines []fakeLine
	Tail  string // without a newline
	Ended bool
	Big   int // size in bytes of a first, long line
}

type fakeLine struct {
	at   time.Time
	text string
}

// NewPods starts an API with these Jobs that also serves pods and their logs.
func NewPods(t testing.TB, jobs ...*unstructured.Unstructured) (*API, *Pods) {
	t.Helper()
	api := NewAPI(t, jobs...)
	pods := &Pods{t: t, version: 1000, changed: make(chan struct{}), Logs: map[string]*Log{}, Refuse: map[string]*Status{}}
	api.pods = pods
	t.Cleanup(pods.Cut)
	return api, pods
}

// Locked calls change while nothing is served, then wakes watches and logs.
func (f *Pods) Locked(change func()) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// Put creates or updates a pod, with a new resourceVersion.
func (f *Pods) Put(pod *corev1.Pod) {
	f.Locked(func() {
		f.version++
		pod = pod.DeepCopy()
		pod.Namespace, pod.ResourceVersion = "ns1", strconv.Itoa(f.version)
		kind := "ADDED"
		if i := slices.IndexFunc(f.Pods, func(p *corev1.Pod) bool { return p.Name == pod.Name }); i >= 0 {
			kind, f.Pods[i] = "MODIFIED", pod
		} else {
			f.Pods = append(f.Pods, pod)
		}
		f.record(kind, pod)
	})
}

// Remove deletes a pod.
func (f *Pods) Remove(name string) {
	f.Locked(func() {
		f.version++
		i := slices.IndexFunc(f.Pods, func(p *corev1.Pod) bool { return p.Name == name })
		f.record("DELETED", f.Pods[i])
		f.Pods = slices.Delete(f.Pods, i, i+1)
	})
}

func (f *Pods) record(kind string, pod *corev1.Pod) {
	pod = pod.DeepCopy()
	pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	f.events = append(f.events, change{f.version, kind, pod})
}

// Write appends lines to a log, each a second after the previous line.
func (f *Pods) Write(key string, lines ...string) {
	f.Locked(func() {
		log := f.Log(key)
		for _, line := range lines {
			at := Now()
			if n := len(log.lines); n > 0 {
				at = log.lines[n-1].at.Add(time.Second)
			}
			log.lines = append(log.lines, fakeLine{at: at, text: line})
		}
	})
}

// WriteAt appends lines with the same timestamp.
func (f *Pods) WriteAt(key string, at time.Time, lines ...string) {
	f.Locked(func() {
		for _, line := range lines {
			f.Log(key).lines = append(f.Log(key).lines, fakeLine{at: at, text: line})
		}
	})
}

// End marks a log as complete, so that following it ends.
func (f *Pods) End(key string) { f.Locked(func() { f.Log(key).Ended = true }) }

// Log returns the log of a pod/container, and creates it if needed.
func (f *Pods) Log(key string) *Log {
	if f.Logs[key] == nil {
		f.Logs[key] = &Log{}
	}
	return f.Logs[key]
}

// Cut breaks all connections that follow logs.
func (f *Pods) Cut() { f.Locked(func() { f.cuts++ }) }

// Requested returns the requests for logs so far, as pod?query.
func (f *Pods) Requested() []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return slices.Clone(f.requests)
}

func (f *Pods) serve(w http.ResponseWriter, r *http.Request) bool {
	p, _ := ParsePath(r.URL.Path)
	switch {
	case p.GroupVersion != "v1" || p.Resource != "pods" || p.Namespace != "ns1":
		return false
	case p.Sub == "log":
		f.serveLog(w, r, p.Name)
	case r.URL.Query().Get("watch") == "true":
		f.serveWatch(w, r)
	default:
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if p.Name == "" {
			f.Pages++
		}
		ServeObjects(w, r, p, "Pod", f.version, f.Pods, func(pod *corev1.Pod) fields.Set { return fields.Set{"status.phase": string(pod.Status.Phase)} })
	}
	return true
}

func (f *Pods) serveWatch(w http.ResponseWriter, r *http.Request) {
	f.Locked(func() { f.Watches++ })
	serveChanges(w, r, func(int) (<-chan struct{}, []change, bool) {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if f.Blind {
			return f.changed, nil, false
		}
		return f.changed, slices.Clone(f.events), false
	})
}

func (f *Pods) serveLog(w http.ResponseWriter, r *http.Request, pod string) {
	query := r.URL.Query()
	key := pod + "/" + query.Get("container")
	if query.Get("previous") == "true" {
		key += "/previous"
	}
	f.Mu.Lock()
	f.requests = append(f.requests, pod+"?"+r.URL.RawQuery)
	if query.Get("follow") == "true" && slices.ContainsFunc(f.Pods, func(p *corev1.Pod) bool { return p.Name == pod && p.Status.Phase == corev1.PodRunning }) {
		f.Log(key) // Nothing is written yet.
	}
	refused, log := f.Refuse[pod], f.Logs[key]
	cuts := f.cuts
	f.open++
	f.Most = max(f.Most, f.open)
	f.Mu.Unlock()
	defer func() {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		f.open--
	}()
	switch {
	case refused != nil:
		WritePodStatus(w, refused, pod)
		return
	case log == nil:
		WritePodStatus(w, &Status{404, "NotFound", fmt.Sprintf("pods %q not found", pod)}, pod)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	for i := 0; i < log.Big; i += 1000 {
		_, _ = fmt.Fprint(w, strings.Repeat("x", 1000))
	}
	since := time.Time{}
	if text := query.Get("sinceTime"); text != "" {
		since, _ = time.Parse(time.RFC3339, text)
	}
	if seconds, err := strconv.Atoi(query.Get("sinceSeconds")); err == nil {
		since = Now().Add(-time.Duration(seconds) * time.Second)
	}
	sent := 0
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		f.Mu.Lock()
		sent = max(0, len(log.lines)-tail)
		f.Mu.Unlock()
	}
	for {
		f.Mu.Lock()
		changed, lines, ended, tail, cut := f.changed, log.lines, log.Ended, log.Tail, f.cuts != cuts
		f.Mu.Unlock()
		for ; sent < len(lines); sent++ {
			if lines[sent].at.Before(since) {
				continue
			}
			if query.Get("timestamps") == "true" {
				_, _ = fmt.Fprint(w, lines[sent].at.Format("2006-01-02T15:04:05.000000000Z07:00")+" ")
			}
			_, _ = fmt.Fprintln(w, lines[sent].text)
		}
		w.(http.Flusher).Flush()
		if cut {
			panic(http.ErrAbortHandler)
		}
		if ended || query.Get("follow") != "true" {
			_, _ = fmt.Fprint(w, tail)
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// WritePodStatus answers with an error about a pod.
func WritePodStatus(w http.ResponseWriter, s *Status, pod string) {
	status := StatusObject(s, pod)
	status["details"] = map[string]any{"kind": "pods", "name": pod}
	WriteJSON(w, s.Code, status)
}

// LogsJob returns the Indexed Job "train" with 10 indexes.
func LogsJob() *unstructured.Unstructured {
	job := SimpleJob("ns1", "train", 0)
	_ = unstructured.SetNestedField(job.Object, "Indexed", "spec", "completionMode")
	_ = unstructured.SetNestedStringMap(job.Object, map[string]string{"job": "train"}, "spec", "selector", "matchLabels")
	_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"name": "main"}}, "spec", "template", "spec", "containers")
	return job
}

// Waits returns the state of a container that has not started.
func Waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// TrainPod returns a pod of Job train with one container; a negative index makes the pod non-indexed.
func TrainPod(suffix string, index, attempt int, phase corev1.PodPhase, state corev1.ContainerState) *corev1.Pod {
	yes := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns1", Name: "train-" + suffix, UID: types.UID("uid-" + suffix), Labels: map[string]string{"job": "train"},
		Annotations:       map[string]string{},
		CreationTimestamp: metav1.NewTime(Now()),
		OwnerReferences:   []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "ns1-train", Controller: &yes}},
	}}
	if index >= 0 {
		pod.Annotations["batch.kubernetes.io/job-completion-index"] = fmt.Sprint(index)
		pod.Labels["batch.kubernetes.io/job-completion-index"] = fmt.Sprint(index)
	}
	if attempt > 0 {
		pod.Annotations["batchjob.dev/attempt"] = fmt.Sprint(attempt)
	}
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: state}}
	return pod
}

// FailedPod returns a pod of Job train whose container exited with code 1.
func FailedPod(suffix string, index, attempt int) *corev1.Pod {
	return TrainPod(suffix, index, attempt, corev1.PodFailed, Exited(1))
}

// RunningPod returns a pod of Job train whose container is running.
func RunningPod(suffix string, index, attempt int) *corev1.Pod {
	return TrainPod(suffix, index, attempt, corev1.PodRunning, nowRunning())
}

// WithLog creates a pod and its complete log; the log exists before a watch shows that the pod has ended.
func (f *Pods) WithLog(pod *corev1.Pod, lines ...string) {
	f.Write(pod.Name+"/main", lines...)
	f.End(pod.Name + "/main")
	f.Put(pod)
}

// WaitRequests waits for at least n log requests.
func (f *Pods) WaitRequests(n int) {
	f.t.Helper()
	WaitFor(f.t, func() bool { return len(f.Requested()) >= n }, func() string { return strings.Join(f.Requested(), "\n") })
}

// Exited returns the state of a container that exited with a code.
func Exited(code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
}

func nowRunning() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}
