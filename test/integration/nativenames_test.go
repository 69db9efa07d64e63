package integration

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// servingRuleNames is a way to the API server on which Jobs in JSON have names in their
// rules, as those of 1.38 have. In protobuf the field is unknown to us, and not there.
func servingRuleNames(config *rest.Config, name string) *rest.Config {
	return rewriting(config, func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte(`"action":"FailJob"`), []byte(`"name":"`+name+`","action":"FailJob"`))
	})
}

// rewriting is a way to the API server on which Jobs in JSON are changed.
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

// rewritten changes what is read, line by line: an event of a watch is a line.
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

// failOn has rules that ignore one exit code, and fail the Job on another.
func failOn(exitCode int32) jobOption {
	return func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: batchv1.PodFailurePolicyActionIgnore, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{77},
			}},
			{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{exitCode},
			}},
		}}
	}
}

// The API server serves names in the rules: they are the reason, and win over the
// annotation, also after a restart and for Jobs that were there before. Nothing that
// we send could take them away.
func TestNamesInTheRulesWin_PFN_28(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"same controller": false, "next controller": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			config := servingRuleNames(apiServer.Config, "FromField")
			p := f.startControllerAt(config)
			job := newJob(completions(1), failOn(exitFailure))
			job.Annotations = map[string]string{rulename.Annotation: "0=Ignored;1=FromAnnotation"}
			f.create(job)
			pods := f.untilActive(1)
			f.untilCounts("a", counts{active: 1})
			if restarts {
				p.stop()
				f.startControllerAt(config)
			}
			f.kubelet.fail(pods...)
			f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_FromField", 0, 1)
			for _, p := range f.processes {
				// A PUT of the status holds the spec too: the API server ignores it there.
				for _, c := range p.wire.recorded(anyWrite) {
					if c.resource != "jobs/status" && (strings.HasPrefix(c.resource, "jobs") || bytes.Contains(c.body, []byte("podFailurePolicy"))) {
						t.Errorf("%s %s %s: %s", c.method, c.resource, c.name, c.body)
					}
				}
			}
		})
	}
}

// Beside API servers of before, the annotation is all there is.
func TestAnnotationHoldsWithoutNamesInTheRules_PFN_28(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	job := newJob(completions(1), failOn(exitFailure))
	job.Annotations = map[string]string{rulename.Annotation: "1=FromAnnotation"}
	f.create(job)
	f.kubelet.play(func(*corev1.Pod, int) corev1.PodPhase { return corev1.PodFailed })
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_FromAnnotation", 0, 1)
	// One watch brings the Jobs, and no list.
	if n := len(p.wire.recorded(func(c call) bool { return jobGet(c) && !c.watch && c.name == "" })); n > 0 {
		t.Errorf("%d lists of Jobs", n)
	}
}
