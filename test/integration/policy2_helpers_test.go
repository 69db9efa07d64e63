package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/component-base/featuregate"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// disrupted is the condition of a pod that is evicted.
var disrupted = corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}

func onExit(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: disrupted.Type, Status: disrupted.Status},
	}}
}

func failurePolicy(rules ...batchv1.PodFailurePolicyRule) jobOption {
	return func(s *batchv1.JobSpec) { s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} }
}

func successPolicy(rules ...batchv1.SuccessPolicyRule) jobOption {
	return func(s *batchv1.JobSpec) { s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}

func indexesSucceed(indexes string) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededIndexes: &indexes}
}

func countSucceeds(n int32) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededCount: &n}
}

func perIndexLimit(n int32) jobOption {
	return func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = &n }
}

// withNames gives a Job the annotation that names its rules.
func withNames(value string, job *batchv1.Job) *batchv1.Job {
	job.Annotations = map[string]string{rulename.Annotation: value}
	return job
}

// gateOff makes a controller with some of its features switched off.
func gateOff(features ...featuregate.Feature) func(*controller.Config) {
	return func(c *controller.Config) {
		gate := controller.NewFeatureGate()
		off := map[string]bool{}
		for _, feature := range features {
			off[string(feature)] = false
		}
		if err := gate.SetFromMap(off); err != nil {
			panic(err)
		}
		c.FeatureGate = gate
	}
}

// exit ends running pods with an exit code.
func (k *kubelet) exit(code int32, pods ...*corev1.Pod) {
	k.f.t.Helper()
	k.set(pods, corev1.PodFailed, code)
}

// failBy ends a pod with a condition, and without a container that shows why.
func (k *kubelet) failBy(pod *corev1.Pod, condition corev1.PodCondition) {
	k.f.t.Helper()
	k.write(pod, corev1.PodStatus{Phase: corev1.PodFailed, Conditions: []corev1.PodCondition{condition}})
}

func (k *kubelet) write(pod *corev1.Pod, status corev1.PodStatus) {
	k.f.t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		k.f.t.Fatal(err)
	}
	stored, err := k.client.CoreV1().Pods(pod.Namespace).Patch(k.f.t.Context(), pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		k.f.t.Fatalf("writing the status of pod %s: %v", pod.Name, err)
	}
	k.f.untilSeen(stored)
}

// ofJob chooses the active pods of the Job of the name.
func ofJob(name string) which {
	return func(pod *corev1.Pod) bool { return history.IsActive(pod) && pod.Labels[batchv1.JobNameLabel] == name }
}

// podOf waits for the only active pod of a Job.
func (f *fixture) podOf(job string) *corev1.Pod {
	f.t.Helper()
	return f.untilPods(1, "of Job "+job, ofJob(job))[0]
}

// indexOfJob waits for the only active pod of an index of a Job.
func (f *fixture) indexOfJob(job string, index int32) *corev1.Pod {
	f.t.Helper()
	return f.untilPods(1, fmt.Sprintf("of index %d of Job %s", index, job), func(pod *corev1.Pod) bool {
		return ofJob(job)(pod) && history.IndexOf(pod) == index
	})[0]
}

// vanish makes a pod disappear though it holds finalizers.
func (f *fixture) vanish(pod *corev1.Pod) {
	f.t.Helper()
	f.setFinalizers(pod)
	f.deletePods(pod)
	f.until("the pod is gone", func() bool { return f.history.pod(pod.UID) == nil })
}

// wantMessage checks the message of the condition.
func (f *fixture) wantMessage(job *batchv1.Job, t batchv1.JobConditionType, message string) {
	f.t.Helper()
	if c := history.Condition(job, t); c == nil || c.Message != message {
		f.t.Errorf("condition %s is %v, want the message %q", t, c, message)
	}
}

// wantUnwritten checks that nobody has written a Job since.
func (f *fixture) wantUnwritten(since *batchv1.Job) {
	f.t.Helper()
	if now := f.history.job(since.Name); now.ResourceVersion != since.ResourceVersion {
		f.t.Errorf("Job %s has changed: it is %s, and was %s", since.Name, jobLine(now), jobLine(since))
	}
}

// holdAndReject keeps requests back until the fault is lifted, and answers with an error
// then.
func (w *wire) holdAndReject(m match, code int) *held {
	h := &held{open: make(chan struct{})}
	h.fault = w.add(&fault{match: m, forges: true, disturb: func(func() (*http.Response, error)) (*http.Response, error) {
		<-h.open
		return forgedAnswer(code), nil
	}})
	return h
}

// telling makes a controller that writes events past the wire, which is for the rest.
func (f *fixture) telling(c *controller.Config) {
	c.EventClient = newControllerClient(f.t, apiServer.Config, "events")
}

// events returns the events about a Job, as the API server has them.
func (f *fixture) events(job string) []corev1.Event {
	f.t.Helper()
	list, err := f.client.CoreV1().Events(f.namespace).List(f.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Job,involvedObject.name=" + job})
	if err != nil {
		f.t.Fatalf("listing events: %v", err)
	}
	return list.Items
}

// said is how often an event of this reason was reported for the Job.
func (f *fixture) said(job, reason string) (n int32) {
	f.t.Helper()
	for _, e := range f.events(job) {
		if e.Reason == reason {
			n += max(e.Count, 1)
		}
	}
	return n
}

// untilEvent waits for an event of this reason about the Job. One writer stores the events
// of a controller one after the other, but for those about pods that come and go: the
// others before it are there, too.
func (f *fixture) untilEvent(job, reason string) corev1.Event {
	f.t.Helper()
	var found corev1.Event
	f.until("there is an event "+reason, func() bool {
		for _, e := range f.events(job) {
			if e.Reason == reason {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// meter reads what controllers count.
type meter struct {
	f        *fixture
	registry kubemetrics.KubeRegistry
	metrics  *metrics.Metrics
}

func (f *fixture) newMeter() *meter {
	registry := kubemetrics.NewKubeRegistry()
	return &meter{f: f, registry: registry, metrics: metrics.New(registry, clock.RealClock{})}
}

func (m *meter) counts(c *controller.Config) { c.Metrics = m.metrics }

// read returns the series that are not zero of the metrics of this name, without the
// prefix job_controller_, as name{label=value,…}.
func (m *meter) read(names ...string) map[string]float64 {
	m.f.t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		m.f.t.Fatalf("gathering metrics: %v", err)
	}
	series := map[string]float64{}
	for _, family := range families {
		name, ours := strings.CutPrefix(family.GetName(), "job_controller_")
		if !ours || !slices.Contains(names, name) {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			if v := metric.GetCounter().GetValue(); v != 0 {
				series[name+"{"+strings.Join(labels, ",")+"}"] = v
			}
		}
	}
	return series
}

// until waits until the metrics of the names are exactly these.
func (m *meter) until(want map[string]float64, names ...string) {
	m.f.t.Helper()
	var got map[string]float64
	if !m.f.history.wait(func() bool {
		got = m.read(names...)
		return maps.Equal(got, want)
	}) {
		m.f.t.Fatalf("the metrics are %v, want %v", got, want)
	}
}

// idleJobs is a namespace of Jobs that nobody runs.
type idleJobs struct {
	t    *testing.T
	jobs batchclient.JobInterface
}

func newIdleJobs(t *testing.T) idleJobs {
	t.Helper()
	client := newClient(t, apiServer.Config, "user")
	return idleJobs{t, client.BatchV1().Jobs(newNamespace(t, client))}
}

// rejects checks what the API server finds wrong with a Job: with this field, or, if
// that is "", with nothing.
func (s idleJobs) rejects(what, field string, options ...jobOption) {
	s.t.Helper()
	_, err := s.jobs.Create(s.t.Context(), newJob(append(options, managedBy(otherController))...), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	s.wantRejected(what, field, err)
}

// rejectsEdit checks the same of a merge patch of the spec of a stored Job.
func (s idleJobs) rejectsEdit(what, field string, stored *batchv1.Job, spec map[string]any) {
	s.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.jobs.Patch(s.t.Context(), stored.Name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	s.wantRejected(what, field, err)
}

func (s idleJobs) store(name string, options ...jobOption) *batchv1.Job {
	s.t.Helper()
	job, err := s.jobs.Create(s.t.Context(), named(name, newJob(append(options, managedBy(otherController))...)), metav1.CreateOptions{})
	if err != nil {
		s.t.Fatalf("creating a Job: %v", err)
	}
	return job
}

func (s idleJobs) wantRejected(what, field string, err error) {
	s.t.Helper()
	switch {
	case field == "" && err != nil:
		s.t.Errorf("%s: the API server says %v", what, err)
	case field != "" && !apierrors.IsInvalid(err):
		s.t.Errorf("%s: the API server says %v, want a rejection of %s", what, err, field)
	case field != "":
		status := apierrors.APIStatus(nil)
		if s, is := err.(apierrors.APIStatus); is {
			status = s
		}
		if causes := status.Status().Details.Causes; !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Field == field }) {
			s.t.Errorf("%s: the API server rejects %v, want %s", what, causes, field)
		}
	}
}
