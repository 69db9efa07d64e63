package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Pods get the schedulingGroup of the template, and no other object is created for it.
// Requirements: JOB-64
func TestSchedulingGroupIsPassedOn(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]jobOption{"NonIndexed": completions(2), "Indexed": indexed(2)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			group := &corev1.PodSchedulingGroup{PodGroupName: ptr.To("gang")}
			stored := f.create(newJob(mode, parallelism(2), func(s *batchv1.JobSpec) { s.Template.Spec.SchedulingGroup = group }))
			if !reflect.DeepEqual(stored.Spec.Template.Spec.SchedulingGroup, group) {
				t.Fatalf("the API server stored %v", stored.Spec.Template.Spec.SchedulingGroup)
			}
			for _, pod := range f.untilActive(2) {
				if !reflect.DeepEqual(pod.Spec.SchedulingGroup, group) {
					t.Errorf("pod %s is of the group %v", pod.Name, pod.Spec.SchedulingGroup)
				}
			}
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 2, 0)
			for _, c := range p.wire.recorded(anyWrite) {
				if c.resource != "pods" && c.resource != "jobs/status" {
					t.Errorf("%s %s", c.method, c.resource)
				}
			}
		})
	}
}

// rewriting returns a config whose responses with Jobs in JSON are changed.
func rewriting(config *rest.Config, rewrite func(line []byte) []byte) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") && strings.Contains(request.URL.Path, "/jobs") {
				response.Body = &rewritten{ReadCloser: response.Body, lines: bufio.NewReader(response.Body), rewrite: rewrite}
				response.ContentLength = -1
				response.Header.Del("Content-Length")
			}
			return response, err
		})
	})
	return config
}

// rewritten changes a response line by line: a line is an event of a watch.
type rewritten struct {
	io.ReadCloser
	lines   *bufio.Reader
	rewrite func(line []byte) []byte
	rest    []byte
}

func (r *rewritten) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		r.rest = r.rewrite(line)
	}
	written := copy(p, r.rest)
	r.rest = r.rest[written:]
	return written, nil
}

// ofTheFuture returns a config with which the specs of Jobs in JSON have unknown fields, and one that exists since 1.37.
// It counts the Jobs.
func ofTheFuture(config *rest.Config, jobs *atomic.Int64) *rest.Config {
	const today = `"template":{"metadata"`
	const future = `"scheduling":{},"futurePolicy":{"rules":[{"a":1}]},"template":{"metadata"`
	return rewriting(config, func(line []byte) []byte {
		jobs.Add(int64(bytes.Count(line, []byte(today))))
		return bytes.ReplaceAll(line, []byte(today), []byte(future))
	})
}

// Unknown fields of the spec do not disturb the controller, and its writes do not change the stored spec.
// Requirements: JOB-64
func TestUnknownFieldsOfTheSpecStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var seen atomic.Int64
	p := f.startControllerAt(ofTheFuture(apiServer.Config, &seen))
	before := f.rawSpec(f.create(newJob(indexed(3), parallelism(2), onNode)))
	f.kubelet.run(f.untilActive(2)...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.edit("a", suspend(true))
	f.kubelet.terminate(f.untilPods(2, "terminating", history.IsTerminating)...)
	f.untilCounts("a", counts{})
	f.edit("a", suspend(false))
	f.kubelet.play(everySucceeds)
	job := f.untilComplete("a", 3, 0)
	if after := f.rawSpec(job); !reflect.DeepEqual(after, before) {
		t.Errorf("the spec was %v and is %v", before, after)
	}
	if seen.Load() == 0 {
		t.Error("the controller has seen no Job of the future")
	}
	if job.Generation != 3 {
		t.Errorf("the generation is %d: somebody else than the test has changed the spec", job.Generation)
	}
	for _, c := range p.wire.recorded(anyWrite) {
		if strings.HasPrefix(c.resource, "jobs") && c.resource != "jobs/status" || bytes.Contains(c.body, []byte("future")) {
			t.Errorf("%s %s: %s", c.method, c.resource, c.body)
		}
	}
}

// rawSpec returns the stored spec of the Job, including fields without a Go type.
func (f *fixture) rawSpec(job *batchv1.Job) map[string]any {
	f.t.Helper()
	text, err := f.client.BatchV1().RESTClient().Get().Namespace(f.namespace).Resource("jobs").Name(job.Name).
		SetHeader("Accept", "application/json").VersionedParams(&metav1.GetOptions{}, metav1.ParameterCodec).DoRaw(f.t.Context())
	assert.NoError(f.t, err)
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	assert.NoError(f.t, json.Unmarshal(text, &object))
	return object.Spec
}
