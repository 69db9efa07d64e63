package clitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Writes is a server in front of the fake API that also creates, patches and deletes Jobs. It enforces the API server's
// rules that writers rely on: names, UIDs, preconditions, test operations, and the fields a subresource may change.
type Writes struct {
	API  *API
	Pods *Pods

	objects  *Objects
	mu       sync.Mutex
	calls    []string
	urls     []string // METHOD URL of the calls
	bodies   []string
	reviews  []string
	causes   []any // of what Reject returns
	uids     int
	denied   map[string]bool
	policies []metav1.DeletionPropagation // of the deletions so far
	// Create changes Jobs before they are stored.
	Create func(job *unstructured.Unstructured)
	// Around serves each write, named as in "patch jobs/status"; nil serves it at once.
	Around func(call string, r *http.Request, serve func())
	// Reject returns the error of a write that would be stored, nil to store it.
	Reject func(call string, r *http.Request) *Status
}

// NewWrites starts an API with these Jobs that also serves pods and allows all calls.
func NewWrites(t testing.TB, jobs ...*unstructured.Unstructured) *Writes {
	t.Helper()
	f := &Writes{denied: map[string]bool{}}
	f.objects = NewObjects(t, jobs...)
	f.API, f.Pods = f.objects.API, f.objects.Pods
	f.API.Server.Close()
	f.API.Server = httptest.NewServer(f)
	f.API.Address = f.API.Server.Listener.Addr().String()
	return f
}

// Deny forbids calls such as "patch jobs/status". Denying "create selfsubjectaccessreviews" keeps clients from checking
// permissions.
func (f *Writes) Deny(calls ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range calls {
		f.denied[call] = true
	}
}

// Calls returns the writes requested so far, without permission checks.
func (f *Writes) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Queries returns the paths and queries of the reads so far whose path ends in suffix.
func (f *Writes) Queries(suffix string) []string { return f.objects.Queries(suffix) }

// Bodies returns the bodies of the writes requested so far.
func (f *Writes) Bodies() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.bodies)
}

// Named returns the writes requested so far with the names of their objects, such as "create train", "patch train/status", and
// "delete configmaps/a" for another kind than Job. A dry run is "try train".
func (f *Writes) Named() (named []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, call := range f.calls {
		verb, resource, _ := strings.Cut(call, " ")
		method, url, _ := strings.Cut(f.urls[i], " ")
		path, query, _ := strings.Cut(url, "?")
		p, _ := ParsePath(path)
		if method == http.MethodPost {
			var object metav1.PartialObjectMetadata
			_ = json.Unmarshal([]byte(f.bodies[i]), &object)
			p.Name = cmp.Or(object.Name, object.GenerateName+"x7")
		}
		if strings.Contains(query, "dryRun=") {
			verb = "try"
		}
		if p.Resource != "jobs" {
			p.Name = p.Resource + "/" + p.Name
		}
		_, sub, _ := strings.Cut(resource, "/")
		named = append(named, strings.TrimSuffix(verb+" "+p.Name+"/"+sub, "/"))
	}
	return named
}

// Reviews returns the permissions asked for so far, such as "ns1 patch jobs/status".
func (f *Writes) Reviews() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.reviews)
}

// Policies returns the propagation policies of the deletions requested so far.
func (f *Writes) Policies() []metav1.DeletionPropagation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.policies)
}

// Job returns the stored Job of namespace ns1, or of another one as in "ns2/train"; nil if there is none.
func (f *Writes) Job(name string) *unstructured.Unstructured {
	namespace, name, found := strings.Cut(name, "/")
	if !found {
		namespace, name = "ns1", namespace
	}
	f.API.Mu.Lock()
	defer f.API.Mu.Unlock()
	for _, job := range f.API.Jobs {
		if job.GetNamespace() == namespace && job.GetName() == name {
			return job.DeepCopy()
		}
	}
	return nil
}

func (f *Writes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		f.serveReview(w, r)
		return
	}
	p, _ := ParsePath(r.URL.Path)
	verb := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete"}[r.Method]
	isJob := p.GroupVersion == "batch/v1" && p.Resource == "jobs" && p.Namespace != ""
	switch {
	case r.URL.Path == "/api/v1" || r.URL.Path == "/apis/rbac.authorization.k8s.io/v1":
		ServeKinds(w, r)
		return
	case verb == "" || !isJob && verb == "patch":
		f.objects.ServeHTTP(w, r)
		return
	}
	name, call := p.Name, strings.TrimSuffix(verb+" "+p.Resource+"/"+p.Sub, "/")
	body, err := io.ReadAll(r.Body) // An unread body would keep the server from noticing that the client is gone.
	f.mu.Lock()
	f.calls, f.urls, f.bodies = append(f.calls, call), append(f.urls, r.Method+" "+r.URL.String()), append(f.bodies, string(body))
	denied, around := f.denied[call], f.Around
	f.mu.Unlock()
	if err != nil {
		WriteStatus(w, &Status{400, "BadRequest", err.Error()}, name)
		return
	}
	serve := func() { f.serveWrite(w, r, body, call, p) }
	if !isJob {
		serve = func() { f.serveOther(w, r, body, call) }
	}
	switch {
	case denied:
		WriteStatus(w, &Status{403, "Forbidden", "jobs.batch is forbidden: User cannot " + call}, name)
	case around != nil:
		around(call, r, serve)
	default:
		serve()
	}
}

func (f *Writes) serveReview(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	review := &authorizationv1.SelfSubjectAccessReview{}
	if err == nil {
		_, _, err = kube.Codecs.UniversalDeserializer().Decode(body, nil, review) // It may be protobuf.
	}
	if err != nil {
		WriteStatus(w, &Status{400, "BadRequest", err.Error()}, "")
		return
	}
	a := review.Spec.ResourceAttributes
	call := strings.TrimSuffix(a.Verb+" "+a.Resource+"/"+a.Subresource, "/")
	f.mu.Lock()
	f.reviews = append(f.reviews, a.Namespace+" "+call)
	denied, silent := f.denied[call], f.denied["create selfsubjectaccessreviews"]
	f.mu.Unlock()
	if silent {
		WriteStatus(w, &Status{403, "Forbidden", "selfsubjectaccessreviews is forbidden"}, "")
		return
	}
	WriteJSON(w, http.StatusCreated, map[string]any{
		"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": map[string]any{"allowed": !denied},
	})
}

func (f *Writes) serveWrite(w http.ResponseWriter, r *http.Request, body []byte, call string, p Path) {
	verb, _, _ := strings.Cut(call, " ")
	f.mu.Lock() // One write at a time, as in etcd.
	defer f.mu.Unlock()
	var job *unstructured.Unstructured
	var refused *Status
	if verb == "create" {
		job, refused = f.created(body, p.Namespace)
	} else if job = f.Job(p.Namespace + "/" + p.Name); job == nil {
		refused = &Status{404, "NotFound", fmt.Sprintf("jobs.batch %q not found", p.Name)}
	} else if verb == "delete" {
		refused = f.mayDelete(job, body)
	} else {
		job, refused = patched(job, types.PatchType(r.Header.Get("Content-Type")), body, p.Sub)
	}
	if refused == nil && f.Reject != nil {
		refused = f.Reject(call, r)
	}
	if refused != nil {
		status := StatusObject(refused, p.Name)
		status["details"].(map[string]any)["causes"] = f.causes
		WriteJSON(w, refused.Code, status)
		return
	}
	switch dryRun := r.URL.Query().Get("dryRun") == metav1.DryRunAll; {
	case dryRun:
	case verb == "delete":
		f.API.Remove(job)
	default:
		f.API.Put(job)
		job = f.Job(job.GetNamespace() + "/" + job.GetName())
	}
	WriteJSON(w, http.StatusOK, job.Object)
}

// serveOther creates or deletes an object that is not a Job, and whose path has a document in Answers then.
func (f *Writes) serveOther(w http.ResponseWriter, r *http.Request, body []byte, call string) {
	f.API.Mu.Lock()
	defer f.API.Mu.Unlock()
	object, path := &unstructured.Unstructured{}, strings.Trim(r.URL.Path, "/")
	if r.Method == http.MethodDelete {
		delete(f.API.Answers, path)
		WriteJSON(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		return
	}
	if err := object.UnmarshalJSON(body); err != nil {
		WriteStatus(w, &Status{400, "BadRequest", err.Error()}, "")
		return
	}
	_, kind, _ := strings.Cut(call, " ")
	at := path + "/" + object.GetName()
	refused := (*Status)(nil)
	if f.API.Answers[at] != nil {
		refused = &Status{409, "AlreadyExists", fmt.Sprintf("%s %q already exists", kind, object.GetName())}
	} else if f.Reject != nil {
		refused = f.Reject(call, r)
	}
	if refused != nil {
		WriteStatus(w, refused, "")
		return
	}
	object.SetUID(types.UID("uid-" + object.GetName()))
	if r.URL.Query().Get("dryRun") != metav1.DryRunAll {
		if f.API.Answers == nil {
			f.API.Answers = map[string]any{}
		}
		f.API.Answers[at] = object.Object
	}
	WriteJSON(w, http.StatusCreated, object.Object)
}

func (f *Writes) created(body []byte, namespace string) (*unstructured.Unstructured, *Status) {
	job := &unstructured.Unstructured{}
	if err := job.UnmarshalJSON(body); err != nil {
		return nil, &Status{400, "BadRequest", err.Error()}
	}
	if job.GetName() == "" {
		job.SetName(job.GetGenerateName() + "x7")
	}
	job.SetNamespace(namespace)
	if f.Job(namespace+"/"+job.GetName()) != nil {
		return nil, &Status{409, "AlreadyExists", fmt.Sprintf("jobs.batch %q already exists", job.GetName())}
	}
	f.uids++
	job.SetUID(types.UID(fmt.Sprintf("created-%d", f.uids)))
	job.SetCreationTimestamp(metav1.NewTime(Now()))
	unstructured.RemoveNestedField(job.Object, "status")
	if f.Create != nil {
		f.Create(job)
	}
	return job, nil
}

func (f *Writes) mayDelete(job *unstructured.Unstructured, body []byte) *Status {
	var options metav1.DeleteOptions
	if err := json.Unmarshal(body, &options); err != nil {
		return &Status{400, "BadRequest", err.Error()}
	}
	if options.PropagationPolicy != nil {
		f.policies = append(f.policies, *options.PropagationPolicy)
	}
	p := options.Preconditions
	if p != nil && (p.UID != nil && *p.UID != job.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != job.GetResourceVersion()) {
		return &Status{409, "Conflict", "Precondition failed"}
	}
	return nil
}

// patched applies a patch. Fields outside the subresource keep their values.
func patched(job *unstructured.Unstructured, kind types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, *Status) {
	before, err := job.MarshalJSON()
	var after []byte
	if err == nil && kind == types.JSONPatchType {
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(body); err == nil {
			after, err = patch.Apply(before)
		}
	} else if err == nil {
		after, err = jsonpatch.MergePatch(before, body)
	}
	changed := &unstructured.Unstructured{}
	if err == nil {
		err = changed.UnmarshalJSON(after)
	}
	if err != nil {
		return nil, &Status{422, "Invalid", "the server rejected our request due to an error in our request: " + err.Error()}
	}
	if changed.GetUID() != job.GetUID() {
		return nil, &Status{409, "Conflict", "Precondition failed: UID in precondition differs"}
	}
	if subresource == "status" {
		job.Object["status"] = changed.Object["status"]
		return job, nil
	}
	changed.Object["status"] = job.Object["status"]
	return changed, nil
}

// ServeKinds serves the discovery of the core group and of rbac.authorization.k8s.io/v1: ConfigMaps, ServiceAccounts and
// ClusterRoles.
func ServeKinds(w http.ResponseWriter, r *http.Request) {
	kinds := map[string][]metav1.APIResource{
		"/api/v1": {
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}, {Name: "serviceaccounts/token", Kind: "TokenRequest", Namespaced: true},
			{Name: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true},
		},
		"/apis/rbac.authorization.k8s.io/v1": {{Name: "clusterroles", Kind: "ClusterRole"}},
	}
	found, known := kinds[r.URL.Path]
	if !known {
		WriteStatus(w, &Status{Code: 404, Reason: "NotFound", Message: "the server could not find the requested resource"}, "")
		return
	}
	WriteJSON(w, http.StatusOK, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, APIResources: found})
}
