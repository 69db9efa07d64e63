package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// creator is a program that creates Jobs, and is known by a label of them or of their pods.
type creator struct {
	name ToolName
	// label is the key of a label; KEY=VALUE; or the beginning of a key, which ends in a slash.
	label string
	// source is where its users change the Jobs; {value} is the value of the label. runs is set if it creates a Job for each of its runs.
	source string
	runs   bool
}

// creators are the programs, those with more specific labels first.
var creators = []creator{
	{"Prefect", "prefect.io/", "the base job template of Prefect's work pool, or the job variables of the deployment", true},
	{"Dagster", "dagster/", "the dagster-k8s/config of the Dagster job, or the run launcher of its code location", true},
	{"Airflow", "dag_id", "the task in the DAG of Airflow", true},
	{"Nextflow", "nextflow.io/", "the directives of the Nextflow process, or nextflow.config", true},
	{"Metaflow", "app.kubernetes.io/name=metaflow-task", "the @kubernetes decorator of the Metaflow step", true},
	{"Buildkite", "buildkite.com/job-uuid", "the kubernetes plugin of the Buildkite step, or the pod-spec-patch of its agent stack", true},
	{"GitHub Actions runner", "runner-pod", "the hook template of the runner set (ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE)", true},
	{"Velero", "velero.io/repo-name", "Velero's ConfigMap for repository maintenance (--repo-maintenance-job-configmap)", true},
	{"system-upgrade-controller", "upgrade.cattle.io/plan", "Plan {value}", true},
	{"K3s", "helmcharts.helm.cattle.io/chart", "HelmChart {value} (spec.jobImage is the image of the Job)", true},
	{"KubeRay", "ray.io/originated-from-cr-name", "RayJob {value} (spec.submitterPodTemplate and spec.submitterConfig are for this Job)", true},
	{"OLM", "operatorframework.io/bundle-unpack-ref", "the catalog that has the bundle, or the mirrors of the cluster (ImageDigestMirrorSet)", true},
	{"Longhorn", "recurring-job.longhorn.io", "RecurringJob {value} of Longhorn", true},
	{"Longhorn", "longhorn.io/job-task", "the settings of Longhorn, or the values of its chart", true},
	{"Rook", "app=rook-ceph-osd-prepare", "the storage of the CephCluster (its nodes, devices and device sets)", true},
	{"Locust operator", "managed-by=locust-k8s-operator", "the LocustTest", true},
	{"k6 operator", "k6_cr", "TestRun {value} (spec.runner and spec.initializer have the images)", true},
	{"Kestra", "kestra.io/flow-id", "flow {value} of Kestra", true},
	{"Trivy Operator", ManagedByLabel + "=trivy-operator", "the configuration of Trivy Operator (its ConfigMaps, or the values of its chart)", true},
	{"Starboard", ManagedByLabel + "=starboard", "the configuration of Starboard (ConfigMap starboard)", true},
	{"Terraform", ManagedByLabel + "=terraform", "the Terraform configuration", false},
	{"kapp", "kapp.k14s.io/app", "the configuration that kapp deploys", false},
	{"Skaffold", "skaffold.dev/run-id", "the manifests that Skaffold deploys", false},
	{"Pulumi", ManagedByLabel + "=pulumi", "the Pulumi program", false},
	{"Kustomize", ManagedByLabel + "=kustomize", "its kustomization", false},
}

// ManagedByLabel is the common label for the program that creates an object, and createdByLabel an older one.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	createdByLabel = "app.kubernetes.io/created-by"
)

// CreatorOf returns the program that creates Jobs with these labels, nil if none is known.
func CreatorOf(labels map[string]string) *Tool {
	for i := range creators {
		if c := &creators[i]; c.isIn(labels) {
			return &Tool{Name: c.name, Source: strings.ReplaceAll(c.source, "{value}", labels[c.label]), Runs: c.runs}
		}
	}
	return nil
}

func (c *creator) isIn(labels map[string]string) bool {
	if key, value, both := strings.Cut(c.label, "="); both {
		return strings.EqualFold(labels[key], value)
	}
	if !strings.HasSuffix(c.label, "/") {
		_, has := labels[c.label]
		return has
	}
	for key := range labels {
		if strings.HasPrefix(key, c.label) {
			return true
		}
	}
	return false
}

// UnknownCreatorOf returns the program that a common label names, nil if it names none.
func UnknownCreatorOf(labels map[string]string) *Tool {
	switch name := cmp.Or(labels[ManagedByLabel], labels[createdByLabel]); strings.ToLower(name) {
	case "", "kubectl", "manual", "none", "controller-manager":
		return nil
	default:
		t := &Tool{Name: ToolName(name), Source: "the object or the configuration that " + name + " creates it from"}
		if from := originIn(labels); from != "" {
			t.Source = "the object that " + name + " creates it from (label " + from + ")"
		}
		return t
	}
}

// origin matches the keys of labels with which operators name the object that they create a Job from, such as example.com/cluster, and
// common the domains of others.
var (
	origin = lazyregexp.New(`/(?:.*-)?(?:cluster|plan|upgrade|backup|restore|database|owner|owned-by|instance|cr|resource)(?:-?[nN]ame)?$`)
	common = lazyregexp.New(`^(?:[\w.-]+\.)?(?:kubernetes\.io|k8s\.io|helm\.sh|fluxcd\.io|argoproj\.io)/`)
)

// originIn returns the label that names the object from which an operator creates the Job, as KEY=VALUE; "" if there is none.
func originIn(labels map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] != "" && origin.MatchString(key) && !common.MatchString(key) {
			return key + "=" + labels[key]
		}
	}
	const instance = "app.kubernetes.io/instance"
	if labels[instance] == "" {
		return ""
	}
	return instance + "=" + labels[instance]
}
