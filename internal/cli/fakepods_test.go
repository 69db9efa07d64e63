package cli

import (
	"encoding/json"
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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// fakePods is the part of the fake API that serves the pods of namespace ns1, and their logs.
type fakePods struct {
	t *testing.T

	mu       sync.Mutex
	pods     []*corev1.Pod
	version  int
	events   []fakePodEvent
	changed  chan struct{}
	logs     map[string]*fakeLog // by pod/container, with /previous
	requests []string            // for logs, pod?query, in order
	pages    int
	open     int // logs that are being served
	most     int
	watches  int
	cuts     int
	blind    bool                   // watches tell nothing
	refuse   map[string]*fakeStatus // by pod, its logs
}

type fakePodEvent struct {
	version int
	kind    string
	pod     *corev1.Pod
}

// fakeLog is what a container wrote: a line each second from 12:00:00 on, unless it says another time.
type fakeLog struct {
	lines []fakeLine
	tail  string // without a newline
	ended bool
	big   int // so many bytes of one line come first
}

type fakeLine struct {
	at   time.Time
	text string
}

func newFakeLogs(t *testing.T, jobs ...*unstructured.Unstructured) (*fakeAPI, *fakePods) {
	t.Helper()
	api := newFakeAPI(t, jobs...)
	pods := &fakePods{t: t, version: 1000, changed: make(chan struct{}), logs: map[string]*fakeLog{}, refuse: map[string]*fakeStatus{}}
	api.pods = pods
	t.Cleanup(pods.cut)
	return api, pods
}

func (f *fakePods) locked(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakePods) put(pod *corev1.Pod) {
	f.locked(func() {
		f.version++
		pod = pod.DeepCopy()
		pod.ResourceVersion = strconv.Itoa(f.version)
		kind := "ADDED"
		if i := slices.IndexFunc(f.pods, func(p *corev1.Pod) bool { return p.Name == pod.Name }); i >= 0 {
			kind, f.pods[i] = "MODIFIED", pod
		} else {
			f.pods = append(f.pods, pod)
		}
		f.events = append(f.events, fakePodEvent{version: f.version, kind: kind, pod: pod})
	})
}

func (f *fakePods) remove(name string) {
	f.locked(func() {
		f.version++
		i := slices.IndexFunc(f.pods, func(p *corev1.Pod) bool { return p.Name == name })
		f.events = append(f.events, fakePodEvent{version: f.version, kind: "DELETED", pod: f.pods[i]})
		f.pods = slices.Delete(f.pods, i, i+1)
	})
}

// write appends lines to a log, a second after the last.
func (f *fakePods) write(key string, lines ...string) {
	f.locked(func() {
		log := f.log(key)
		for _, line := range lines {
			at := testNow()
			if n := len(log.lines); n > 0 {
				at = log.lines[n-1].at.Add(time.Second)
			}
			log.lines = append(log.lines, fakeLine{at: at, text: line})
		}
	})
}

// writeAt appends lines of one and the same moment.
func (f *fakePods) writeAt(key string, at time.Time, lines ...string) {
	f.locked(func() {
		for _, line := range lines {
			f.log(key).lines = append(f.log(key).lines, fakeLine{at: at, text: line})
		}
	})
}

func (f *fakePods) end(key string) { f.locked(func() { f.log(key).ended = true }) }

func (f *fakePods) log(key string) *fakeLog {
	if f.logs[key] == nil {
		f.logs[key] = &fakeLog{}
	}
	return f.logs[key]
}

// cut breaks all connections of logs.
func (f *fakePods) cut() { f.locked(func() { f.cuts++ }) }

func (f *fakePods) requested() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

func (f *fakePods) serve(w http.ResponseWriter, r *http.Request, path string) bool {
	rest, ok := strings.CutPrefix(path, "api/v1/namespaces/ns1/pods")
	if !ok {
		return false
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	switch {
	case len(parts) == 2 && parts[1] == "log":
		f.serveLog(w, r, parts[0])
	case r.URL.Query().Get("watch") == "true":
		f.serveWatch(w, r)
	default:
		f.serveList(w, r)
	}
	return true
}

func (f *fakePods) serveList(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages++
	selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	list.ResourceVersion = strconv.Itoa(f.version)
	for _, pod := range f.pods {
		if selector.Matches(labels.Set(pod.Labels)) {
			list.Items = append(list.Items, *pod)
		}
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	list.Items = list.Items[from:]
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && len(list.Items) > limit {
		list.Items = list.Items[:limit]
		list.Continue = strconv.Itoa(from + limit)
	}
	writeJSON(w, http.StatusOK, list)
}

func (f *fakePods) serveWatch(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	f.mu.Lock()
	f.watches++
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		f.mu.Lock()
		changed, events, blind := f.changed, f.events, f.blind
		f.mu.Unlock()
		for _, event := range events {
			if event.version > from && !blind {
				from = event.version
				object := event.pod.DeepCopy()
				object.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
				_ = json.NewEncoder(w).Encode(map[string]any{"type": event.kind, "object": object})
			}
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fakePods) serveLog(w http.ResponseWriter, r *http.Request, pod string) {
	query := r.URL.Query()
	key := pod + "/" + query.Get("container")
	if query.Get("previous") == "true" {
		key += "/previous"
	}
	f.mu.Lock()
	f.requests = append(f.requests, pod+"?"+r.URL.RawQuery)
	refused, log := f.refuse[pod], f.logs[key]
	cuts := f.cuts
	f.open++
	f.most = max(f.most, f.open)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open--
	}()
	switch {
	case refused != nil:
		writePodStatus(w, refused, pod)
		return
	case log == nil:
		writePodStatus(w, &fakeStatus{404, "NotFound", fmt.Sprintf("pods %q not found", pod)}, pod)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	for i := 0; i < log.big; i += 1000 {
		_, _ = fmt.Fprint(w, strings.Repeat("x", 1000))
	}
	since := time.Time{}
	if text := query.Get("sinceTime"); text != "" {
		since, _ = time.Parse(time.RFC3339, text)
	}
	if seconds, err := strconv.Atoi(query.Get("sinceSeconds")); err == nil {
		since = testNow().Add(-time.Duration(seconds) * time.Second)
	}
	sent := 0
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		f.mu.Lock()
		sent = max(0, len(log.lines)-tail)
		f.mu.Unlock()
	}
	for {
		f.mu.Lock()
		changed, lines, ended, tail, cut := f.changed, log.lines, log.ended, log.tail, f.cuts != cuts
		f.mu.Unlock()
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

func writePodStatus(w http.ResponseWriter, s *fakeStatus, pod string) {
	status := statusObject(s, pod)
	status["details"] = map[string]any{"kind": "pods", "name": pod}
	writeJSON(w, s.code, status)
}

// logsJob is the Indexed Job "train" with 10 indexes.
func logsJob() *unstructured.Unstructured {
	job := simpleJob("ns1", "train", 0)
	_ = unstructured.SetNestedField(job.Object, "Indexed", "spec", "completionMode")
	_ = unstructured.SetNestedStringMap(job.Object, map[string]string{"job": "train"}, "spec", "selector", "matchLabels")
	_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"name": "main"}}, "spec", "template", "spec", "containers")
	return job
}

func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// trainPod is a pod of the Job with one container; an index below zero is none.
func trainPod(suffix string, index, attempt int, phase corev1.PodPhase, state corev1.ContainerState) *corev1.Pod {
	yes := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns1", Name: "train-" + suffix, UID: types.UID("uid-" + suffix), Labels: map[string]string{"job": "train"},
		Annotations:       map[string]string{},
		CreationTimestamp: metav1.NewTime(testNow()),
		OwnerReferences:   []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "ns1-train", Controller: &yes}},
	}}
	if index >= 0 {
		pod.Annotations["batch.kubernetes.io/job-completion-index"] = fmt.Sprint(index)
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

func failedPod(suffix string, index, attempt int) *corev1.Pod {
	return trainPod(suffix, index, attempt, corev1.PodFailed, exited(1))
}

func runningPod(suffix string, index, attempt int) *corev1.Pod {
	return trainPod(suffix, index, attempt, corev1.PodRunning, nowRunning())
}

// ended puts the pod and its log, complete.
func (f *fakePods) withLog(pod *corev1.Pod, lines ...string) {
	f.put(pod)
	f.write(pod.Name+"/main", lines...)
	f.end(pod.Name + "/main")
}

func (f *fakePods) waitRequests(n int) {
	f.t.Helper()
	waitFor(f.t, func() bool { return len(f.requested()) >= n }, func() string { return strings.Join(f.requested(), "\n") })
}

func exited(code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
}

func nowRunning() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}
