package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

const (
	jobText = `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"%d"},` +
		`"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore"},{"name":"Two","action":"FailJob"}]}}}`
	statusText = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"%s","code":%d,"message":"as the test says"}`
)

// jobServer is an API server with one Job, which returns JSON.
type jobServer struct {
	*httptest.Server
	mu sync.Mutex
	// requests are the queries and headers of all requests.
	requests []string
	// lists and streams are the next responses, "code text".
	lists   []string
	streams [][]string
	// drained is closed when no stream is left for a watch.
	drained chan struct{}
}

func newJobServer(t *testing.T) *jobServer {
	s := &jobServer{drained: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *jobServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, fmt.Sprintf("%s %s?%s %s %s", r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Accept"), r.UserAgent()))
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		s.answer(w, &s.lists)
		return
	}
	if len(s.streams) == 0 {
		close(s.drained)
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return
	}
	events := s.streams[0]
	s.streams = s.streams[1:]
	for len(events) > 0 {
		s.answer(w, &events)
	}
}

func (s *jobServer) answer(w http.ResponseWriter, answers *[]string) {
	var code int
	text := (*answers)[0]
	*answers = (*answers)[1:]
	if _, err := fmt.Sscan(text, &code); err != nil {
		panic(err)
	}
	if code != http.StatusOK {
		w.WriteHeader(code)
	}
	_, text, _ = strings.Cut(text, " ")
	_, _ = w.Write([]byte(text + "\n"))
}

// client returns a client like the one of the controller verb: it prefers protobuf.
func (s *jobServer) client(t *testing.T) kube.Interface {
	client, err := kube.NewForConfig(&rest.Config{Host: s.URL, UserAgent: "tester", ContentConfig: rest.ContentConfig{
		ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
	}})
	assert.NoError(t, err)
	return client
}

func watchEvent(kind string, object string) string {
	return fmt.Sprintf(`200 {"type":%q,"object":%s}`, kind, object)
}

func namedOf(t *testing.T, s *jobServer) *namedJobs {
	t.Helper()
	named, err := newNamedJobs(s.client(t))
	assert.NoError(t, err)
	return named
}

// PFN-28: Jobs are read in JSON, with the names of their rules, over the connection of the typed client and with its
// options.
func TestJobsAreReadWithTheNamesOfTheirRules(t *testing.T) {
	s := newJobServer(t)
	s.lists = []string{
		`200 {"kind":"JobList","apiVersion":"batch/v1","metadata":{"resourceVersion":"9"},"items":[` + fmt.Sprintf(jobText, 7) + `]}`,
		"410 " + fmt.Sprintf(statusText, "Expired", 410),
		"200 what is this?",
	}
	jobs := namedOf(t, s).in("ns")
	list, err := jobs.List(t.Context(), metav1.ListOptions{ResourceVersion: "5", Limit: 3})
	if err != nil || list.ResourceVersion != "9" || len(list.Items) != 1 || !slices.Equal(list.Items[0].RuleNames, []string{"", "Two"}) || list.Items[0].UID != "u" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := jobs.List(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("expired: %v", err)
	}
	if _, err := jobs.List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("no JSON: no error")
	}
	want := []string{"GET /apis/batch/v1/namespaces/ns/jobs?limit=3&resourceVersion=5 application/json tester", "GET /apis/batch/v1/namespaces/ns/jobs? application/json tester"}
	assert.SlicesEqual(t, s.requests[:2], want, "requests")
}

// JOB-55: a watch of Jobs delivers events, bookmarks and errors in the stream.
// Requirements: PFN-28
func TestWatchOfNamedJobsBringsEveryKindOfEvent(t *testing.T) {
	s := newJobServer(t)
	s.streams = [][]string{{
		watchEvent("ADDED", fmt.Sprintf(jobText, 7)),
		watchEvent("BOOKMARK", `{"kind":"Job","apiVersion":"batch/v1","metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}}`),
		watchEvent("DELETED", fmt.Sprintf(jobText, 9)),
		watchEvent("ERROR", fmt.Sprintf(statusText, "Expired", 410)),
	}, {
		"410 " + fmt.Sprintf(statusText, "Expired", 410),
	}, {
		"200 {broken",
	}}
	jobs := namedOf(t, s).in("")
	w, err := jobs.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "5", AllowWatchBookmarks: true, TimeoutSeconds: ptr.To[int64](77)})
	assert.NoError(t, err)
	got := ""
	for e := range w.ResultChan() {
		switch o := e.Object.(type) {
		case *observe.NamedJob:
			got += fmt.Sprintf("%s %s@%s %q ", e.Type, o.Name, o.ResourceVersion, o.RuleNames)
		default:
			got += fmt.Sprintf("%s %v ", e.Type, apierrors.IsResourceExpired(apierrors.FromObject(e.Object)))
		}
	}
	assert.Equal(t, got, `ADDED a@7 ["" "Two"] BOOKMARK @8 [] DELETED a@9 ["" "Two"] ERROR true `)
	if want := "GET /apis/batch/v1/jobs?allowWatchBookmarks=true&resourceVersion=5&timeout=1m17s&timeoutSeconds=77&watch=true application/json tester"; s.requests[0] != want {
		t.Errorf("request %q", s.requests[0])
	}
	if _, err := jobs.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("expired: %v", err)
	}
	w, err = jobs.Watch(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err)
	if e, ok := <-w.ResultChan(); ok && e.Type != watch.Error {
		t.Errorf("a broken stream brought %+v", e)
	}
}

// ignoring is a listener that ignores all changes.
type ignoring struct{}

func (ignoring) PodChanged(observe.PodChange) {}
func (ignoring) JobChanged(observe.JobChange) {}
func (ignoring) StrayChanged([]*batchv1.Job)  {}

// PFN-28, JOB-55: the reflector fills the cache with named Jobs, from streamed lists as usual, and starts over when its
// version has expired.
func TestReflectorFillsTheCacheWithNamedJobs(t *testing.T) {
	s := newJobServer(t)
	end := watchEvent("BOOKMARK", `{"kind":"Job","apiVersion":"batch/v1","metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}`)
	s.streams = [][]string{
		{watchEvent("ADDED", fmt.Sprintf(jobText, 7)), end, watchEvent("MODIFIED", fmt.Sprintf(jobText, 9)), watchEvent("ERROR", fmt.Sprintf(statusText, "Expired", 410))},
		{watchEvent("ADDED", strings.ReplaceAll(fmt.Sprintf(jobText, 12), `"u"`, `"v"`)), strings.ReplaceAll(end, `"8"`, `"13"`)},
	}
	c := observe.NewCache(nil, nil, ignoring{})
	store := c.JobStore("")
	named := namedOf(t, s)
	api := named.in("")
	reflector := cache.NewReflectorWithOptions(listWatch(&Live{named: named}, api.List, api.Watch), &observe.NamedJob{}, store, cache.ReflectorOptions{
		Name: "jobs", Backoff: &wait.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 1},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { reflector.RunWithContext(ctx) })
	select {
	case <-s.drained:
	case <-time.After(5 * time.Minute):
		t.Error("the watch did not go on")
	}
	cancel()
	wg.Wait()
	if job := c.Job("v"); job == nil || job.ResourceVersion != "12" || !slices.Equal(c.RuleNames("v"), []string{"", "Two"}) {
		t.Errorf("the Job is %v, the names are %q", job, c.RuleNames("v"))
	}
	if c.Job("u") != nil || c.RuleNames("u") != nil {
		t.Error("the Job that is gone is there")
	}
	for _, r := range s.requests {
		assert.Contains(t, r, "watch=true", "a list that is not streamed")
	}
}

// A clientset without a connection, as in tests, uses the typed client.
func TestFakeClientHasNoConnection(t *testing.T) {
	if n, err := newNamedJobs(kubefake.Client(fake.NewClientset())); n != nil || err != nil {
		t.Error("a fake clientset has a connection")
	}
}
