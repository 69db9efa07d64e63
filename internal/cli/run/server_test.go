package run

import (
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// server wraps the fake API, and handles the writes of run.
type server struct {
	*clitest.Objects
	t *testing.T

	mu      sync.Mutex
	writes  []string          // METHOD NAME[/SUBRESOURCE], in order
	forbid  []string          // "VERB RESOURCE"
	exists  string            // a name that cannot be created
	vanish  bool              // created Jobs are deleted at once
	outage  []clitest.Status  // responses to creations after the first Job's
	stores  func(name string) // called after storing a Job whose response the outage loses; nil if it is not stored
	first   bool              // the outage begins with the first Job
	delays  bool              // a Job that the outage loses is stored when the next request arrives
	delayed *unstructured.Unstructured
	// retryAfter makes client-go repeat requests that the outage loses.
	retryAfter bool
	deletion   chan struct{}
	deletes    func(w http.ResponseWriter, job *unstructured.Unstructured) bool // instead of a deletion, unless it returns false
	rejects    *clitest.Status                                                  // the response to dry runs
	// answers is called with the name of a stored object before the response to its creation; nil for an immediate response.
	answers func(r *http.Request, name string)
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{Objects: clitest.NewObjects(t), t: t}
	s.API.Server.Close()
	s.API.Server = httptest.NewServer(s)
	s.API.Address = s.API.Server.Listener.Addr().String()
	return s
}

func (s *server) start(args ...string) *clitest.Session {
	return program.Start(s.t, s.API, clitest.NewEnv(), append([]string{"run"}, args...)...)
}

func (s *server) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(r.URL.Path, "/")
	if strings.HasSuffix(path, "/selfsubjectaccessreviews") {
		s.review(w, r)
		return
	}
	if s.others(w, r, path) {
		return
	}
	parts := strings.SplitN(path, "/", 7) // apis/batch/v1/namespaces/NAMESPACE/jobs/NAME
	if len(parts) < 6 || parts[5] != "jobs" || r.Method == http.MethodGet {
		s.Objects.ServeHTTP(w, r)
		return
	}
	name := strings.Join(parts[6:], "")
	body, _ := io.ReadAll(r.Body)
	switch r.Method {
	case http.MethodPost:
		s.create(w, r, parts[4], body)
	case http.MethodDelete:
		s.note("DELETE " + name)
		if s.deletion != nil {
			<-s.deletion
		}
		if s.deletes != nil && s.deletes(w, s.job(name)) {
			return
		}
		s.remove(name)
		clitest.WriteJSON(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case http.MethodPatch:
		s.note("PATCH " + name)
		s.patch(w, strings.TrimSuffix(name, "/status"), r.Header.Get("Content-Type"), body)
	}
}

func (s *server) note(write string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, write)
}

func (s *server) review(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	review, ok := object.(*authorizationv1.SelfSubjectAccessReview)
	if err != nil || !ok {
		s.t.Errorf("%v: %v", object, err)
		return
	}
	asked := review.Spec.ResourceAttributes
	review.Status.Allowed = !slices.Contains(s.forbid, asked.Verb+" "+asked.Resource)
	clitest.WriteJSON(w, http.StatusCreated, review)
}

func (s *server) create(w http.ResponseWriter, r *http.Request, namespace string, body []byte) {
	job := &unstructured.Unstructured{}
	if err := job.UnmarshalJSON(body); err != nil {
		s.t.Error(err)
	}
	if job.GetName() == "" {
		job.SetName(job.GetGenerateName() + "x7")
	}
	if r.URL.Query().Has("dryRun") {
		s.note("TRY " + job.GetName())
		if s.rejects != nil {
			clitest.WriteStatus(w, s.rejects, job.GetName())
		} else {
			clitest.WriteJSON(w, http.StatusCreated, job.Object)
		}
		return
	}
	s.note("POST " + job.GetName())
	var lost *clitest.Status
	if len(s.outage) > 0 && (s.first || len(s.writes) > 1) {
		lost, s.outage = &s.outage[0], s.outage[1:]
		if s.stores == nil {
			if s.delays {
				s.delayed = job
			}
			clitest.WriteStatus(w, lost, job.GetName())
			return
		}
	}
	if s.delayed != nil {
		s.put(s.delayed, namespace)
		s.delayed = nil
	}
	if name := job.GetName(); name == s.exists || s.job(name) != nil {
		clitest.WriteStatus(w, &clitest.Status{Code: 409, Reason: "AlreadyExists", Message: fmt.Sprintf("jobs.batch %q already exists", name)}, name)
		return
	}
	if !s.vanish {
		s.put(job, namespace)
	}
	if lost != nil {
		if s.retryAfter {
			w.Header().Set("Retry-After", "0")
		}
		s.stores(job.GetName())
		clitest.WriteStatus(w, lost, job.GetName())
		return
	}
	if s.answers != nil {
		s.answers(r, job.GetName())
	}
	clitest.WriteJSON(w, http.StatusCreated, job.Object)
}

// put stores a Job with the fields that the API server sets.
func (s *server) put(job *unstructured.Unstructured, namespace string) {
	job.SetNamespace(namespace)
	job.SetUID(types.UID("ns1-" + job.GetName()))
	_ = unstructured.SetNestedField(job.Object, clitest.Now().Format("2006-01-02T15:04:05Z"), "metadata", "creationTimestamp")
	_ = unstructured.SetNestedStringMap(job.Object, map[string]string{"job": job.GetName()}, "spec", "selector", "matchLabels")
	s.API.Put(job)
}

// job returns the Job of that name, nil if there is none.
func (s *server) job(name string) *unstructured.Unstructured {
	s.API.Mu.Lock()
	defer s.API.Mu.Unlock()
	for _, job := range s.API.Jobs {
		if job.GetName() == name {
			return job.DeepCopy()
		}
	}
	return nil
}

func (s *server) remove(name string) {
	if job := s.job(name); job != nil {
		s.API.Remove(job)
	}
}

func (s *server) patch(w http.ResponseWriter, name, kind string, body []byte) {
	job := s.job(name)
	data, _ := job.MarshalJSON()
	var err error
	if strings.Contains(kind, "json-patch") {
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(body); err == nil {
			data, err = patch.Apply(data)
		}
	} else {
		data, err = jsonpatch.MergePatch(data, body)
	}
	if err == nil {
		err = job.UnmarshalJSON(data)
	}
	if err != nil {
		s.t.Errorf("%s: %v", body, err)
	}
	s.API.Put(job)
	clitest.WriteJSON(w, http.StatusOK, s.job(name).Object)
}

// finish ends a Job with a condition, after changes of its status.
func (s *server) finish(name, condition, reason string, status map[string]any) {
	job := s.job(name)
	for field, value := range status {
		_ = unstructured.SetNestedField(job.Object, value, "status", field)
	}
	_ = unstructured.SetNestedField(job.Object, clitest.Now().Format("2006-01-02T15:04:05Z"), "status", "startTime")
	s.API.Put(clitest.WithCondition(job, condition, reason, ""))
}

// others serves ConfigMaps and discovery. ConfigMaps named "taken" exist.
func (s *server) others(w http.ResponseWriter, r *http.Request, path string) bool {
	name, found := strings.CutPrefix(path, "api/v1/namespaces/ns1/configmaps")
	switch {
	case path == "api/v1" && r.Method == http.MethodGet:
		clitest.ServeKinds(w, r)
	case found && r.Method == http.MethodDelete:
		s.note("DELETE configmaps" + name)
		clitest.WriteJSON(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	case found && r.Method == http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		created := &unstructured.Unstructured{}
		if err := created.UnmarshalJSON(body); err != nil {
			s.t.Error(err)
		}
		s.note("POST configmaps/" + created.GetName())
		if created.GetName() == "taken" {
			clitest.WriteStatus(w, &clitest.Status{Code: 409, Reason: "AlreadyExists", Message: "configmaps \"taken\" already exists"}, "taken")
			return true
		}
		created.SetUID("u1")
		created.SetNamespace("ns1")
		if s.answers != nil {
			s.answers(r, created.GetName())
		}
		clitest.WriteJSON(w, http.StatusCreated, created.Object)
	default:
		return false
	}
	return true
}
