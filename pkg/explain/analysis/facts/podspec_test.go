package facts_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// oomKilled returns the report on a failed Job whose template has the memory limit, or none; change is the effect of
// admission on its pod.
func oomKilled(template string, change func(*corev1.Pod)) explain.Report {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](0), 1
		if template != "" {
			j.Spec.Template.Spec.Containers[0].Resources = explaintest.Memory(template)
		}
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	})
	f := explaintest.InputOf(job, explaintest.PodOf("train-x", func(p *corev1.Pod) {
		explaintest.Exits(137, cause.OOMKilled, time.Minute)(p)
		change(p)
	}))
	f.RelativesRead = true
	return explaintest.Report(f)
}

// Requirements: FCT-02
func TestMemoryLimitIsThatOfThePod(t *testing.T) {
	for name, tc := range map[string]struct {
		template        string
		pod             func(*corev1.Pod)
		verdict, advice string
		retry           string
	}{
		"of a LimitRange": {"", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = explaintest.Memory("128Mi")
			p.Annotations = map[string]string{"kubernetes.io/limit-ranger": "LimitRanger plugin set: memory request for container main; cpu, memory limit for container main"}
		}, "(OOMKilled), memory limit 128Mi from a LimitRange;", "was set by a LimitRange of the namespace, as the template has none", "--limits memory=256Mi"},
		"of a webhook": {"", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = explaintest.Memory("128Mi")
			p.Annotations = map[string]string{"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu limit for container main; memory limit for container other"}
		}, "memory limit 128Mi of the pod, not of the Job's template;", "the limit of 128Mi was set in the pod, while the template has none", "--limits memory=256Mi"},
		"of the whole pod": {"", func(p *corev1.Pod) {
			p.Spec.Resources = ptr.To(explaintest.Memory("128Mi"))
		}, "memory limit 128Mi of the whole pod;", "raise the memory limit of the pod, which is 128Mi for all its containers together", ""},
		"lowered by a webhook": {"512Mi", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = explaintest.Memory("128Mi")
		}, "memory limit 128Mi of the pod", "was set in the pod, while the template has 512Mi", "--limits memory=256Mi"},
		"resized, as the kubelet has it": {"512Mi", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = explaintest.Memory("512Mi")
			p.Status.ContainerStatuses[0].Resources = ptr.To(explaintest.Memory("1Gi"))
		}, "memory limit 1Gi of the pod", "the limit of 1Gi was set in the pod, while the template has 512Mi", "--limits memory=2Gi"},
		"of the template": {"512Mi", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = explaintest.Memory("512Mi")
		}, "(OOMKilled), memory limit 512Mi;", "raise the memory limit of container main, which is 512Mi", "--limits memory=1Gi"},
		"none": {"", func(*corev1.Pod) {}, "(OOMKilled), without a memory limit", "it has none, and the memory of its node or pod was used up", ""},
	} {
		r := oomKilled(tc.template, tc.pod)
		assert.Contains(t, explaintest.Verdict(r), tc.verdict, name, "verdict")
		if !explaintest.HasAdvice(r, tc.advice) || tc.retry != "" && !explaintest.HasAdvice(r, tc.retry) || tc.retry == "" && explaintest.HasAdvice(r, "--limits memory") {
			t.Errorf("%s: advice %+v", name, r.Advice)
		}
		if tc.advice != "it has none, and the memory of its node or pod was used up" && explaintest.HasAdvice(r, "it has none, and") {
			t.Errorf("%s: %+v", name, r.Advice)
		}
	}
}
