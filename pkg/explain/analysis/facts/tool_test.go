package facts_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: TOL-01
func TestTheToolThatCreatesAJobIsNamed(t *testing.T) {
	helm := map[string]string{"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "web"}
	for want, job := range map[string]*batchv1.Job{
		"":                explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "kubectl"}, nil),
		"train-operator":  explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "train-operator"}, nil),
		"rook":            explaintest.ToolJob(map[string]string{"app.kubernetes.io/created-by": "rook"}, nil),
		"K3s":             explaintest.ToolJob(map[string]string{"helmcharts.helm.cattle.io/chart": "traefik"}, nil),
		"Prefect":         explaintest.ToolJob(map[string]string{"prefect.io/flow-name": "hello"}, nil),
		"Trivy Operator":  explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "trivy-operator"}, nil),
		"Helm":            explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "Helm"}, nil),
		"Helm release db": explaintest.ToolJob(helm, map[string]string{"meta.helm.sh/release-name": "db"}),
		"pre-install and pre-upgrade hook of Helm release web": explaintest.ToolJob(helm, map[string]string{"helm.sh/hook": "pre-install, pre-upgrade"}),
		"PreSync hook of Application shop of Argo CD":          explaintest.ToolJob(nil, map[string]string{"argocd.argoproj.io/hook": "PreSync", "argocd.argoproj.io/tracking-id": "shop:batch/Job:ns/train"}),
		"pre-install hook of Application shop of Argo CD":      explaintest.ToolJob(helm, map[string]string{"helm.sh/hook": "pre-install", "argocd.argoproj.io/tracking-id": "shop:batch/Job:ns/train"}),
		"Sync hook of Argo CD":                                 explaintest.ToolJob(nil, map[string]string{"argocd.argoproj.io/hook": "Sync"}),
		"HelmRelease web of Flux":                              explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "Helm", "helm.toolkit.fluxcd.io/name": "web"}, nil),
		"Kustomization apps of Flux":                           explaintest.ToolJob(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}, nil),
	} {
		got := ""
		if tool := explaintest.Report(explaintest.InputOf(job)).Job.Tool; tool != nil {
			got = words.ToolText(tool)
		}
		assert.Equalf(t, got, want, "%v, %v", job.Labels, job.Annotations)
	}
	owned := explaintest.ToolJob(helm, nil)
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: "CronJob", Name: "nightly", Controller: ptr.To(true)}}
	if tool := explaintest.Report(explaintest.InputOf(owned)).Job.Tool; tool != nil {
		t.Errorf("a Job of a CronJob: %+v", tool)
	}
}

// Requirements: TOL-03
func TestACompleteHookThatHelmShouldHaveDeletedIsToBeDeleted(t *testing.T) {
	for policy, want := range map[string]string{
		"hook-succeeded": "delete it, and add before-hook-creation", "before-hook-creation, hook-succeeded": "delete it if nobody needs it", "before-hook-creation": "", "": "",
	} {
		for age, old := range map[time.Duration]bool{time.Hour: true, 10 * time.Second: false} {
			job := explaintest.ToolJob(nil, map[string]string{"helm.sh/hook": "post-install", "helm.sh/hook-delete-policy": policy})
			end := metav1.NewTime(explaintest.Noon.Add(-age))
			job.Status = batchv1.JobStatus{Succeeded: 1, CompletionTime: &end, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True", LastTransitionTime: end}}}
			r := explaintest.Report(explaintest.InputOf(job))
			left, soon := old && want != "", !old && want != ""
			if left != strings.Contains(r.Verdict.Sentence, "Helm has not deleted it") || soon != strings.Contains(r.Verdict.Sentence, "Helm deletes it when") {
				t.Errorf("%q, %s: %s", policy, age, r.Verdict.Sentence)
			}
			advice := want
			if soon {
				advice = "if it stays, " + want
			}
			isAdvised := left || soon && policy == "hook-succeeded" // Otherwise, Helm deletes it by itself, or the next time.
			if want != "" && explaintest.HasAdvice(r, advice) != isAdvised {
				t.Errorf("%q, %s: %+v", policy, age, r.Advice)
			}
		}
	}
}
