package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// fakeAPI speaks as much of the API server's protocol as the verbs need: get, list in chunks, watch with
// resourceVersions and expiry, metadata-only lists. It can be stopped and started again on its address.
type fakeAPI struct {
	t       testing.TB
	address string
	server  *httptest.Server

	mu      sync.Mutex
	jobs    []*unstructured.Unstructured
	version int
	events  []fakeEvent
	changed chan struct{} // closed and replaced on every change
	watches int           // opened so far
	drops   int           // counts dropWatches
	expired int           // watches from versions before this get a 410
	lists   []string      // raw queries of the lists
	refuse  func(r *http.Request) *fakeStatus
	pods    *fakePods // nil for none
}

type fakeEvent struct {
	version int
	kind    string
	job     *unstructured.Unstructured
}

type fakeStatus struct {
	code    int
	reason  string
	message string
}

func newFakeAPI(t testing.TB, jobs ...*unstructured.Unstructured) *fakeAPI {
	t.Helper()
	f := &fakeAPI{t: t, version: 100, changed: make(chan struct{})}
	for _, job := range jobs {
		f.put(job)
	}
	f.start("127.0.0.1:0")
	t.Cleanup(f.stop)
	return f
}

func (f *fakeAPI) start(address string) {
	f.t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.address = listener.Addr().String()
	f.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(f.serve)}}
	f.server.Start()
}

func (f *fakeAPI) stop() {
	f.dropWatches()
	f.server.CloseClientConnections()
	f.server.Close()
}

func (f *fakeAPI) url() string { return "http://" + f.address }

// put creates or updates a Job, with a new resourceVersion.
func (f *fakeAPI) put(job *unstructured.Unstructured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := "ADDED"
	stored := f.next(job)
	if i := f.find(job); i >= 0 {
		kind, f.jobs[i] = "MODIFIED", stored
	} else {
		f.jobs = append(f.jobs, stored)
	}
	f.record(kind, stored)
}

func (f *fakeAPI) remove(job *unstructured.Unstructured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.find(job); i >= 0 {
		f.jobs = slices.Delete(f.jobs, i, i+1)
	}
	f.record("DELETED", f.next(job))
}

func (f *fakeAPI) next(job *unstructured.Unstructured) *unstructured.Unstructured {
	f.version++
	stored := job.DeepCopy()
	stored.SetResourceVersion(strconv.Itoa(f.version))
	return stored
}

func (f *fakeAPI) find(job *unstructured.Unstructured) int {
	return slices.IndexFunc(f.jobs, func(j *unstructured.Unstructured) bool { return feed.KeyOf(j) == feed.KeyOf(job) })
}

func (f *fakeAPI) record(kind string, job *unstructured.Unstructured) {
	f.events = append(f.events, fakeEvent{version: f.version, kind: kind, job: job})
	f.wake()
}

func (f *fakeAPI) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// dropWatches ends all open watches.
func (f *fakeAPI) dropWatches() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drops++
	f.wake()
}

// expire forgets the history: a watch from before now gets a 410.
func (f *fakeAPI) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.expired, f.events = f.version, nil
}

func (f *fakeAPI) setRefuse(refuse func(r *http.Request) *fakeStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

// opened is how many watches there were.
func (f *fakeAPI) opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watches
}

func (f *fakeAPI) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refuse := f.refuse
	f.mu.Unlock()
	if refuse != nil {
		if status := refuse(r); status != nil {
			writeStatus(w, status, "")
			return
		}
	}
	path := strings.Trim(r.URL.Path, "/")
	if f.pods != nil && f.pods.serve(w, r, path) {
		return
	}
	if path == "api/v1/namespaces" {
		writeJSON(w, http.StatusOK, map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": []any{
			partial(map[string]any{"name": "ns1"}), partial(map[string]any{"name": "ns2"}),
		}})
		return
	}
	namespace, name, ok := jobPath(path)
	switch {
	case !ok:
		writeStatus(w, &fakeStatus{404, "NotFound", "the server could not find the requested resource"}, "")
	case name != "":
		f.serveGet(w, namespace, name)
	case r.URL.Query().Get("watch") == "true":
		f.serveWatch(w, r, namespace)
	default:
		f.serveList(w, r, namespace)
	}
}

func jobPath(path string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(path, "apis/batch/v1/")
	parts := strings.Split(rest, "/")
	switch {
	case !ok:
	case rest == "jobs":
		return "", "", true
	case len(parts) >= 3 && parts[0] == "namespaces" && parts[2] == "jobs":
		return parts[1], strings.Join(parts[3:], "/"), true
	}
	return "", "", false
}

func (f *fakeAPI) serveGet(w http.ResponseWriter, namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, job := range f.jobs {
		if job.GetNamespace() == namespace && job.GetName() == name {
			writeJSON(w, http.StatusOK, job.Object)
			return
		}
	}
	writeStatus(w, &fakeStatus{404, "NotFound", fmt.Sprintf("jobs.batch %q not found", name)}, name)
}

func (f *fakeAPI) serveList(w http.ResponseWriter, r *http.Request, namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists = append(f.lists, r.URL.RawQuery)
	query := r.URL.Query()
	items := []any{}
	metadataOnly := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	for _, job := range f.jobs {
		if !selected(job, namespace, query.Get("labelSelector"), query.Get("fieldSelector")) {
			continue
		}
		if metadataOnly {
			items = append(items, partial(job.Object["metadata"]))
			continue
		}
		item := job.DeepCopy().Object
		delete(item, "kind") // as the API server does in lists
		delete(item, "apiVersion")
		items = append(items, item)
	}
	listMeta := map[string]any{"resourceVersion": strconv.Itoa(f.version)}
	from, _ := strconv.Atoi(query.Get("continue"))
	items = items[from:]
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && len(items) > limit {
		items = items[:limit]
		listMeta["continue"] = strconv.Itoa(from + limit)
	}
	list := map[string]any{"kind": "JobList", "apiVersion": "batch/v1", "metadata": listMeta, "items": items}
	if metadataOnly {
		list["kind"], list["apiVersion"] = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	writeJSON(w, http.StatusOK, list)
}

func (f *fakeAPI) serveWatch(w http.ResponseWriter, r *http.Request, namespace string) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("resourceVersion"))
	f.mu.Lock()
	f.watches++
	drops := f.drops
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		f.mu.Lock()
		changed, events, gone, dropped := f.changed, f.events, from < f.expired, f.drops != drops
		f.mu.Unlock()
		if gone {
			writeEvent(w, "ERROR", statusObject(&fakeStatus{410, "Expired", "too old resource version"}, ""))
			return
		}
		for _, event := range events {
			if event.version > from && selected(event.job, namespace, query.Get("labelSelector"), query.Get("fieldSelector")) {
				from = event.version
				writeEvent(w, event.kind, event.job.Object)
			}
		}
		w.(http.Flusher).Flush()
		if dropped {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
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

func partial(objectMeta any) map[string]any {
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": objectMeta}
}

func statusObject(s *fakeStatus, name string) map[string]any {
	return map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": s.code, "reason": s.reason, "message": s.message,
		"details": map[string]any{"kind": "jobs", "group": "batch", "name": name},
	}
}

func writeStatus(w http.ResponseWriter, s *fakeStatus, name string) {
	writeJSON(w, s.code, statusObject(s, name))
}

func writeEvent(w http.ResponseWriter, kind string, object map[string]any) {
	_ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": object})
}

func writeJSON(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}
