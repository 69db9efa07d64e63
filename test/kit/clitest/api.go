package clitest

import (
	"encoding/json"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// API implements the part of the API server's protocol that the verbs need: get, chunked list, watch with
// resourceVersions and expiry, and metadata-only lists. It can be stopped and restarted on the same address.
type API struct {
	t       testing.TB
	Address string
	Server  *httptest.Server

	Mu      sync.Mutex
	Jobs    []*unstructured.Unstructured
	version int
	events  []change
	changed chan struct{} // closed and replaced on every change
	watches int           // number of watches opened so far
	drops   int           // number of calls of DropWatches
	expired int           // watches from an older version get a 410
	Lists   []string      // raw queries of the list requests
	Refuse  func(r *http.Request) *Status
	hung    chan struct{} // closed when the API answers again; nil unless it hangs
	pods    *Pods         // nil if the API serves no pods

	CronJobs []*batchv1.CronJob // readable CronJobs, in any namespace
	// Answers are JSON documents of other paths, such as "version".
	Answers map[string]any
}

// Status is an error response of the API server.
type Status struct {
	Code    int
	Reason  string
	Message string
}

// NewAPI starts an API that serves these Jobs until the test ends.
func NewAPI(t testing.TB, jobs ...*unstructured.Unstructured) *API {
	t.Helper()
	f := &API{t: t, version: 100, changed: make(chan struct{})}
	for _, job := range jobs {
		f.Put(job)
	}
	f.Start("127.0.0.1:0")
	t.Cleanup(f.Stop)
	return f
}

// Start serves on an address; using the same one again after Stop lets clients reconnect.
func (f *API) Start(address string) {
	f.t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Address = listener.Addr().String()
	f.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(f.Serve)}}
	f.Server.Start()
}

// Stop breaks all connections and refuses new ones.
func (f *API) Stop() {
	f.DropWatches()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		f.Server.Close()
	}()
	// Close waits for requests, and a client may have connected again before it refused new connections.
	for {
		f.Server.CloseClientConnections()
		select {
		case <-closed:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// URL returns the address for a kubeconfig.
func (f *API) URL() string { return "http://" + f.Address }

// Put creates or updates a Job, with a new resourceVersion.
func (f *API) Put(job *unstructured.Unstructured) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	kind := "ADDED"
	stored := f.next(job)
	if i := f.find(job); i >= 0 {
		kind, f.Jobs[i] = "MODIFIED", stored
	} else {
		f.Jobs = append(f.Jobs, stored)
	}
	f.record(kind, stored)
}

// Remove deletes a Job; watches receive it in the passed state.
func (f *API) Remove(job *unstructured.Unstructured) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if i := f.find(job); i >= 0 {
		f.Jobs = slices.Delete(f.Jobs, i, i+1)
	}
	f.record("DELETED", f.next(job))
}

func (f *API) next(job *unstructured.Unstructured) *unstructured.Unstructured {
	f.version++
	stored := job.DeepCopy()
	stored.SetResourceVersion(strconv.Itoa(f.version))
	return stored
}

func (f *API) find(job *unstructured.Unstructured) int {
	return slices.IndexFunc(f.Jobs, func(j *unstructured.Unstructured) bool { return feed.KeyOf(j) == feed.KeyOf(job) })
}

func (f *API) record(kind string, job *unstructured.Unstructured) {
	f.events = append(f.events, change{f.version, kind, job})
	f.wake()
}

func (f *API) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// DropWatches ends all open watches.
func (f *API) DropWatches() {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.drops++
	f.wake()
}

// Expire drops the event history: a watch from an older version now gets a 410.
func (f *API) Expire() {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.version++
	f.expired, f.events = f.version, nil
}

// SetRefuse makes the API answer with an error wherever refuse returns one.
func (f *API) SetRefuse(refuse func(r *http.Request) *Status) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Refuse = refuse
}

// Hang makes the API accept requests without answering them, open watches included, until resume is called.
func (f *API) Hang() (resume func()) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	hung := make(chan struct{})
	f.hung = hung
	return func() {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		f.hung = nil
		close(hung)
	}
}

// Await returns once the API answers requests, or the client is gone.
func (f *API) Await(r *http.Request) {
	f.Mu.Lock()
	hung := f.hung
	f.Mu.Unlock()
	if hung == nil {
		return
	}
	select {
	case <-hung:
	case <-r.Context().Done():
	}
}

// Opened returns the number of watches opened so far.
func (f *API) Opened() int {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.watches
}

// Serve answers one request; it is exported for fakes that serve more resources than API.
func (f *API) Serve(w http.ResponseWriter, r *http.Request) {
	if ReadsAllPods(r) {
		f.t.Errorf("POL-02: a verb reads all pods of a namespace: %s", r.URL)
	}
	f.Await(r)
	f.Mu.Lock()
	path := strings.Trim(r.URL.Path, "/")
	refuse := f.Refuse
	answer, found := f.Answers[path]
	f.Mu.Unlock()
	if refuse != nil {
		if status := refuse(r); status != nil {
			WriteStatus(w, status, "")
			return
		}
	}
	if found {
		WriteJSON(w, http.StatusOK, answer)
		return
	}
	if f.pods != nil && f.pods.serve(w, r) {
		return
	}
	if path == "api/v1/namespaces" {
		WriteJSON(w, http.StatusOK, map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": []any{
			Partial(map[string]any{"name": "ns1"}), Partial(map[string]any{"name": "ns2"}),
		}})
		return
	}
	watches := r.URL.Query().Get("watch") == "true"
	p, _ := ParsePath(r.URL.Path)
	switch {
	case p.GroupVersion == "batch/v1" && p.Resource == "cronjobs" && p.Name != "":
		ServeObjects(w, r, p, "CronJob", 0, f.CronJobs, nil)
	case p.GroupVersion == "v1" && p.Resource == "pods" && !watches:
		ServeObjects(w, r, p, "Pod", 0, []*corev1.Pod{}, nil)
	case p.GroupVersion == "v1" && p.Resource == "events" && !watches:
		ServeObjects(w, r, p, "Event", 0, []*corev1.Event{}, nil)
	case p.GroupVersion != "batch/v1" || p.Resource != "jobs" || p.Sub != "":
		WriteStatus(w, &Status{404, "NotFound", "the server could not find the requested resource"}, "")
	case watches:
		f.serveWatch(w, r, p.Namespace)
	default:
		f.serveJobs(w, r, p)
	}
}

func (f *API) serveJobs(w http.ResponseWriter, r *http.Request, p Path) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var jobs []*unstructured.Unstructured
	for _, job := range f.Jobs {
		job = job.DeepCopy()
		delete(job.Object, "kind") // as the API server does in lists
		delete(job.Object, "apiVersion")
		jobs = append(jobs, job)
	}
	if p.Name == "" {
		f.Lists = append(f.Lists, r.URL.RawQuery)
	}
	ServeObjects(w, r, p, "Job", f.version, jobs, nil)
}

// ReadsAllPods reports whether a request lists or watches pods without a selector.
func ReadsAllPods(r *http.Request) bool {
	query := r.URL.Query()
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/pods") && query.Get("labelSelector") == "" && query.Get("fieldSelector") == ""
}

func (f *API) serveWatch(w http.ResponseWriter, r *http.Request, namespace string) {
	query := r.URL.Query()
	f.Mu.Lock()
	f.watches++
	drops := f.drops
	f.Mu.Unlock()
	serveChanges(w, r, func(from int) (<-chan struct{}, []change, bool) {
		f.Await(r)
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if from < f.expired {
			return nil, []change{{math.MaxInt, "ERROR", StatusObject(&Status{410, "Expired", "too old resource version"}, "")}}, true
		}
		return f.changed, slices.DeleteFunc(slices.Clone(f.events), func(c change) bool {
			return !selected(c.object.(*unstructured.Unstructured), namespace, query.Get("labelSelector"), query.Get("fieldSelector"))
		}), f.drops != drops
	})
}

func selected(job *unstructured.Unstructured, namespace, labelSelector, fieldSelector string) bool {
	byLabel, err := labels.Parse(labelSelector)
	if err != nil {
		return false
	}
	byField, err := fields.ParseSelector(fieldSelector)
	if err != nil {
		return false
	}
	return (namespace == "" || namespace == job.GetNamespace()) && byLabel.Matches(labels.Set(job.GetLabels())) &&
		byField.Matches(fields.Set{"metadata.name": job.GetName()})
}

// Partial returns a PartialObjectMetadata, as in metadata-only lists.
func Partial(objectMeta any) map[string]any {
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": objectMeta}
}

// StatusObject returns the body of an error about a Job.
func StatusObject(s *Status, name string) map[string]any {
	return map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": s.Code, "reason": s.Reason, "message": s.Message,
		"details": map[string]any{"kind": "jobs", "group": "batch", "name": name},
	}
}

// WriteStatus answers with an error about a Job.
func WriteStatus(w http.ResponseWriter, s *Status, name string) {
	WriteJSON(w, s.Code, StatusObject(s, name))
}

// WriteJSON answers with an object.
func WriteJSON(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}
