package advice_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// A hook that runs before the other objects of its release exist needs a hook that creates its object; an object that is created
// by hand would be in the way of the release.
// Requirements: TOL-02
func TestObjectsThatHooksNeedAreHooksToo(t *testing.T) {
	const noAccount = `Error creating: pods "train-" is forbidden: error looking up service account ns/train: serviceaccount "train" not found`
	for name, tc := range map[string]struct {
		annotations  map[string]string
		note, advice string
	}{
		"before an upgrade": {
			map[string]string{"helm.sh/hook": "pre-upgrade", "helm.sh/hook-weight": "-1"},
			"Helm runs this pre-upgrade hook before it updates the other objects of the release",
			"if the chart has ServiceAccount train, make it a pre-upgrade hook, too, with helm.sh/hook-weight below -1,",
		},
		"before a sync": {
			map[string]string{"argocd.argoproj.io/hook": "PreSync"},
			"Argo CD runs this PreSync hook before it syncs the other objects of the Application",
			"if the Application has ServiceAccount train, make it a PreSync hook, too, with argocd.argoproj.io/sync-wave below 0,",
		},
		"after the deletion": {
			map[string]string{"helm.sh/hook": "post-delete"},
			"Helm runs this post-delete hook after it has deleted the other objects of the release",
			"if the chart has ServiceAccount train, make it a post-delete hook, too,",
		},
		"after the installation": {map[string]string{"helm.sh/hook": "post-install"}, "", "create ServiceAccount train, and give it the roles that the program needs, as a new one has none; or "},
		"no hook":                {nil, "", "create ServiceAccount train, and give it the roles that the program needs, as a new one has none; or "},
	} {
		r := explaintest.Report(input.Input{Now: explaintest.Noon, Job: explaintest.ToolJob(nil, tc.annotations), PodsRead: true, EventsRead: true, Events: []input.Event{explaintest.JobEvent("FailedCreate", noAccount, 3, 0)}})
		p := explaintest.Problem(t, r, explain.ProblemCreationRefused)
		if note := words.ProblemNote(&p); note != tc.note || !strings.Contains(p.Text, "ServiceAccount train in namespace ns does not exist") {
			t.Errorf("%s: %s", name, p.Text)
		}
		if len(r.Advice) == 0 || !strings.HasPrefix(r.Advice[0].Text, tc.advice) || tc.note != "" && r.Advice[0].Command != "" {
			t.Errorf("%s: %+v", name, r.Advice)
		}
	}
}

// What creates the Job has to change, and what runs a hook has to run it again: no copy of the Job is proposed.
// Requirements: TOL-03
func TestAdviceIsAboutWhatCreatesTheJob(t *testing.T) {
	missing := explaintest.PendingPod("ErrImagePull", `rpc error: code = NotFound desc = failed to pull and unpack image "train:1": not found`)
	ownedBy := func(version, kind, name string) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, Controller: ptr.To(true)}}
		})
	}
	for name, tc := range map[string]struct {
		job    *batchv1.Job
		advice string
	}{
		"a hook":              {explaintest.ToolJob(nil, map[string]string{"helm.sh/hook": "pre-delete"}), "a change of the chart helps only later installations: helm uninstall runs the hook of the release as it was last installed or upgraded"},
		"a part of a release": {explaintest.ToolJob(nil, map[string]string{"meta.helm.sh/release-name": "web"}), "change the chart of release web or its values, not this Job; delete the Job before helm upgrade --install, as its pod template cannot be changed"},
		"of an Application":   {explaintest.ToolJob(nil, map[string]string{"argocd.argoproj.io/hook": "PostSync"}), "change the source of its Application, not this Job: Argo CD creates the hook again at the next sync"},
		"of a Kustomization":  {explaintest.ToolJob(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}, nil), "change the source of Kustomization apps, not this Job; delete the Job before the next reconciliation"},
		"a chart of K3s":      {explaintest.ToolJob(map[string]string{"helmcharts.helm.cattle.io/chart": "traefik"}, nil), "change spec.jobImage in HelmChart traefik, not this Job"},
		"a hook of one moment": {
			explaintest.ToolJob(nil, map[string]string{"helm.sh/hook": "post-install"}),
			"change the chart or its values, not this Job, and have helm upgrade run this hook, too (post-upgrade in its helm.sh/hook), or uninstall the release and install it again: Helm runs the hook only at helm install",
		},
		"of another program": {explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "acme"}, nil), "change the object or the configuration that acme creates it from, not this Job; delete the Job before acme creates it again"},
		"of an object":       {explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "acme", "acme.io/cluster": "db"}, nil), "change the object that acme creates it from (label acme.io/cluster=db), not this Job"},
		"of an owner":        {ownedBy("ray.io/v1", "RayJob", "ray"), "change spec.submitterPodTemplate in RayJob ray, not this Job: its controller creates the Job"},
		"of a backup":        {ownedBy("pxc.percona.com/v1", "PerconaXtraDBClusterBackup", "b"), "to run another image, change spec.backup.image in the PerconaXtraDBCluster, not this Job: its controller creates the Job"},
		"of a user":          {explaintest.JobWith(nil), ""},
	} {
		r := explaintest.Report(explaintest.InputOf(tc.job, missing))
		var texts, commands []string
		for _, a := range r.Advice {
			texts, commands = append(texts, a.Text), append(commands, a.Command)
		}
		copies := strings.Contains(strings.Join(commands, "\n"), "batchjob retry")
		if !strings.Contains(strings.Join(texts, "\n"), tc.advice) || copies != (tc.advice == "") {
			t.Errorf("%s: %q, %q", name, texts, commands)
		}
	}
}

// A Job that an operator made is changed in the configuration of the operator, also after it has failed.
// Requirements: TOL-03
func TestAJobOfAnOperatorIsChangedThere(t *testing.T) {
	job := explaintest.ToolJob(map[string]string{"app.kubernetes.io/managed-by": "scan-operator"}, nil)
	in := explaintest.FailedOnce(explaintest.PodOf("a", func(p *corev1.Pod) {
		explaintest.Exits(1, "Error", time.Minute)(p)
		p.Status.ContainerStatuses[0].State.Terminated.Message = "open scan.yaml: permission denied"
	}))
	in.Job.Labels = job.Labels
	r := explaintest.Report(in)
	explaintest.WantText(t, r, "access to scan.yaml", "change the object or the configuration that scan-operator creates it from, not this Job")
	explaintest.WantWithout(t, r, "if the cause is in the pod template")
}

// A pod of a complete Job needs no fix, and a copy of it would do its work again.
// Requirements: CLI-06
func TestFailedPodOfACompleteJobNeedsNoFix(t *testing.T) {
	in := explaintest.FailedOnce(explaintest.PodOf("a", func(p *corev1.Pod) {
		explaintest.Exits(1, "Error", time.Minute)(p)
		p.Status.ContainerStatuses[0].State.Terminated.Message = "dial tcp 10.0.0.7:6379: connect: connection refused"
	}))
	in.Job.Status.Succeeded, in.Job.Status.CompletionTime = 1, &metav1.Time{Time: explaintest.Noon}
	in.Job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, Reason: "CompletionsReached"}}
	r := explaintest.Report(in)
	explaintest.WantText(t, r, "nothing has to be done if the output of the pod that succeeded is right")
	explaintest.WantWithout(t, r, "check whether something listens", "kubectl debug", "batchjob retry")
}
