package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// storedJob returns the JSON of an Indexed Job of ours, with additional fields in the spec of its template.
func storedJob(generation int, template string) string {
	return fmt.Sprintf(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"train","namespace":"ns","uid":"uid","resourceVersion":"7","generation":%d},"spec":{`+
		`"managedBy":%q,"parallelism":1,"completions":1,"completionMode":"Indexed","suspend":false,"backoffLimit":6,"selector":{"matchLabels":{"app":"x"}},"template":%s},"status":{}}`,
		generation, DefaultManagedBy, template)
}

const newerTemplate = `{"metadata":{"creationTimestamp":null,"labels":{"app":"x"},"annotations":{"note":"y"}},"spec":{"restartPolicy":"Never","hostNetwork":false,` +
	`"newToPods":{"number":12345678901234567,"list":[1,"two"]},"securityContext":{"newToSecurity":true,"runAsUser":7},` +
	`"initContainers":[{"name":"init","image":"i","newToContainers":"first"}],` +
	`"containers":[{"name":"main","image":"m","newToContainers":"second","env":[{"name":"A","value":"b","newToEnv":1}],"resources":{"limits":{"cpu":"1000m"}}},{"name":"side","image":"s"}],` +
	`"volumes":[{"name":"v","newVolume":{"size":"1Gi"}}]}}`

func decodeJob(t *testing.T, text string) *observe.NamedJob {
	t.Helper()
	job := &observe.NamedJob{}
	assert.NoError(t, json.Unmarshal([]byte(text), job))
	return job
}

// JOB-39, JOB-42: a pod has every field of the template's spec, including fields that our types lack, and the fields
// that the controller adds.
func TestPodHasTheStoredTemplate(t *testing.T) {
	job := decodeJob(t, storedJob(1, newerTemplate))
	pod := podFor(&job.Job, reconcile.NewPod{Index: 3, Attempt: 1})
	body, err := withTemplate(pod, job.Template)
	assert.NoError(t, err)
	for _, want := range []string{
		`"apiVersion":"v1"`, `"kind":"Pod"`, `"generateName":"train-3-"`, `"note":"y"`, `"batch.kubernetes.io/job-tracking"`, `"hostname":"train-3"`,
		`"newToPods":{"number":12345678901234567,"list":[1,"two"]}`, `"newToSecurity":true`, `"runAsUser":7`, `"hostNetwork":false`,
		`"newToContainers":"first"`, `"newToContainers":"second"`, `"newToEnv":1`, `"newVolume":{"size":"1Gi"}`,
	} {
		assert.Contains(t, string(body), want)
	}
	// Decoded into our types, the pod is the same as one built from them.
	again := &corev1.Pod{}
	assert.NoError(t, json.Unmarshal(body, again))
	typed, _ := json.Marshal(pod.Spec)
	if text, _ := json.Marshal(again.Spec); string(text) != string(typed) {
		t.Errorf("got  %s\nwant %s", text, typed)
	}
	assert.Equal(t, strings.Count(string(body), completionIndexEnv), 3, "containers that know their index")
}

// JOB-39: no pods are created from a template with fields whose place in a pod is unclear.
func TestTemplateThatCannotBeKeptMakesNoPods(t *testing.T) {
	for field, template := range map[string]string{
		"newToTemplates": `{"newToTemplates":1,"metadata":{"labels":{"app":"x"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"m"}]}}`,
		"newToMetadata":  `{"metadata":{"newToMetadata":{"a":"b"},"labels":{"app":"x"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"m"}]}}`,
	} {
		f, heard := newTalkingCluster(t)
		created := 0
		f.engine.cluster.CreateJSON = f.createJSON(&created)
		job := decodeJob(t, storedJob(1, template))
		assert.NoError(t, f.cache.JobStore("").Add(job))
		_, err := f.sync()
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), field) || f.did("create") != 0 || created != 0 || f.did("list") != 0 {
			t.Errorf("%s: %v, calls %q", field, err, f.calls)
		}
		if !slices.ContainsFunc(heard.texts, func(text string) bool {
			return strings.HasPrefix(text, "Warning FailedCreate: ") && strings.Contains(text, field)
		}) {
			t.Errorf("%s: said %q", field, heard.texts)
		}
	}
}

// createJSON creates pods as Create does, and counts them.
func (f *fakeCluster) createJSON(created *int) func(context.Context, string, []byte) (*corev1.Pod, error) {
	return func(ctx context.Context, _ string, body []byte) (*corev1.Pod, error) {
		*created++
		pod := &corev1.Pod{}
		if err := json.Unmarshal(body, pod); err != nil {
			return nil, err
		}
		return fakePods{f}.Create(ctx, pod)
	}
}

// JOB-39: without a way to write such a pod, none is written, and no field is lost silently.
func TestNoPodIsCreatedWithoutItsWholeTemplate(t *testing.T) {
	f := newFakeCluster(t, nil)
	assert.NoError(t, f.cache.JobStore("").Add(decodeJob(t, storedJob(1, newerTemplate))))
	if _, err := f.engine.Sync(t.Context(), "uid"); err == nil || f.did("create") != 0 {
		t.Errorf("%v, calls %q", err, f.calls)
	}
}

// JOB-30: the template of a suspended Job can change. No pod is created from a generation of the Job that is known only
// as a typed object.
func TestNoPodIsCreatedFromAnotherGeneration(t *testing.T) {
	f, created := newFakeCluster(t, nil), 0
	f.engine.cluster.CreateJSON = f.createJSON(&created)
	store := f.cache.JobStore("")
	_ = store.Add(decodeJob(t, storedJob(1, newerTemplate)))
	typed := decodeJob(t, strings.Replace(storedJob(2, newerTemplate), `"7"`, `"8"`, 1)).Job
	f.cache.WroteJob(&typed)
	f.live = &typed
	result, err := f.engine.Sync(t.Context(), "uid")
	if err != nil || f.did("create")+created != 0 || result.After != f.engine.config.RetryMin {
		t.Errorf("%+v, %v, calls %q", result, err, f.calls)
	}
	newest := `{"metadata":{"labels":{"app":"x"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"m"}]}}`
	_ = store.Update(decodeJob(t, strings.Replace(storedJob(2, newest), `"7"`, `"8"`, 1)))
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || f.did("create") != 1 || created != 0 {
		t.Errorf("%v, calls %q, %d created from JSON", err, f.calls, created)
	}
}

// podServer is an API server that stores posted objects.
type podServer struct {
	*httptest.Server
	mu   sync.Mutex
	job  string
	pods []string
	seen []string
}

func newPodServer(t *testing.T, job string) *podServer {
	s := &podServer{job: job}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.seen = append(s.seen, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), r.Header.Get("Accept")))
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	switch r.Method {
	case http.MethodPost:
		s.pods = append(s.pods, string(body))
		pod := &corev1.Pod{}
		if err := json.Unmarshal(body, pod); err != nil {
			panic(err)
		}
		pod.Name, pod.UID, pod.ResourceVersion = "train-0-abcde", "pod", "20"
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(pod)
	default:
		_, _ = io.WriteString(w, s.job)
	}
}

func (s *podServer) cluster(t *testing.T) cluster.Cluster {
	t.Helper()
	client, err := kube.NewForConfig(&rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{
		ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
	}})
	assert.NoError(t, err)
	live, err := cluster.NewLive(client, Config{}.WithDefaults().CallTimeout, clock.RealClock{}, nil)
	assert.NoError(t, err)
	return live.Cluster(1)
}

// JOB-39: on the wire, the pod has the fields that our types lack; reads past the cache return them too.
func TestNewerFieldsReachTheWire(t *testing.T) {
	s := newPodServer(t, storedJob(1, newerTemplate))
	f := newFakeCluster(t, nil)
	live := s.cluster(t)
	job, err := live.Jobs.Get(t.Context(), "ns", "train")
	if err != nil || !strings.Contains(string(job.Template), "newToPods") || job.Spec.Template.Spec.Containers[0].Name != "main" {
		t.Fatalf("%v, %+v", err, job)
	}
	assert.NoError(t, f.cache.JobStore("").Add(job))
	syncer := &jobSync{Engine: NewEngine(f.engine.config, f.cache, live), uid: "uid", job: &job.Job, template: job.Template, skip: map[types.UID]why{}}
	if _, err := syncer.apply(t.Context(), &reconcile.Plan{Create: []reconcile.NewPod{{Index: 0, Attempt: 1}}}); err != nil || len(syncer.errs) > 0 {
		t.Fatal(err, syncer.errs)
	}
	if len(s.pods) != 1 || !strings.Contains(s.pods[0], `"newToContainers":"second"`) {
		t.Errorf("posted %q", s.pods)
	}
	if want := "POST /api/v1/namespaces/ns/pods?fieldManager=" + FieldManager + " application/json"; !strings.HasPrefix(s.seen[1], want) {
		t.Errorf("requests %q", s.seen)
	}
	if pods := f.cache.Pods("uid"); len(pods) != 1 || pods[0].Name != "train-0-abcde" || !pods[0].Finalizer {
		t.Errorf("pods %v", pods)
	}
}

// Pods of a Job whose template our types can hold are written with these types.
func TestOrdinaryTemplateIsTyped(t *testing.T) {
	f, created := newFakeCluster(t, nil), 0
	f.engine.cluster.CreateJSON = f.createJSON(&created)
	plain := `{"metadata":{"creationTimestamp":null,"labels":{"app":"x"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"m"}]}}`
	_ = f.cache.JobStore("").Add(decodeJob(t, storedJob(1, plain)))
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil || f.did("create") != 1 || created != 0 {
		t.Errorf("%v, calls %q, %d from JSON", err, f.calls, created)
	}
}
