package controller

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// printed holds the printed manifests, by kind/name or kind/namespace/name.
type printed struct {
	t       *testing.T
	objects map[string]*unstructured.Unstructured
}

// printManifests runs the verb without a kubeconfig, which it must not need.
func printManifests(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	return program.Run(t, nil, append([]string{"controller"}, args...)...)
}

func manifestsOf(t *testing.T, args ...string) printed {
	t.Helper()
	got := printManifests(t, args...)
	if got.Code != cmdutil.ExitDone {
		t.Fatalf("%q: exit code %d, %s", args, got.Code, got.ErrOut)
	}
	p := printed{t: t, objects: map[string]*unstructured.Unstructured{}}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(got.Out))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return p
		}
		object := &unstructured.Unstructured{}
		if err == nil {
			err = yaml.UnmarshalStrict(document, &object.Object)
		}
		assert.NoError(t, err, document)
		id := strings.Join(slices.DeleteFunc([]string{object.GetKind(), object.GetNamespace(), object.GetName()}, func(s string) bool { return s == "" }), "/")
		if p.objects[id] != nil {
			t.Errorf("%s is given twice", id)
		}
		p.objects[id] = object
	}
}

// read decodes an object; unknown fields are an error.
func (p printed) read(id string, into any) {
	p.t.Helper()
	object := p.objects[id]
	if object == nil {
		p.t.Fatalf("%s is not printed; there are %q", id, slices.Sorted(maps.Keys(p.objects)))
	}
	assert.NoError(p.t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, into, true), id)
}

const deploymentID = "Deployment/batchjob-system/batchjob-controller"

func (p printed) deployment() (d appsv1.Deployment) {
	p.t.Helper()
	p.read(deploymentID, &d)
	if n := len(d.Spec.Template.Spec.Containers); n != 1 {
		p.t.Fatalf("the Deployment has %d containers", n)
	}
	return d
}

func (p printed) container() corev1.Container {
	p.t.Helper()
	return p.deployment().Spec.Template.Spec.Containers[0]
}

// grants returns the permissions that roles grant to the controller's account, each with its namespace.
func (p printed) grants() sets.Set[string] {
	p.t.Helper()
	account := rbacv1.Subject{Kind: "ServiceAccount", Namespace: systemNamespace, Name: controllerName}
	all := sets.New[string]()
	for id, object := range p.objects {
		if !strings.HasSuffix(object.GetKind(), "RoleBinding") {
			continue
		}
		var binding rbacv1.RoleBinding // A ClusterRoleBinding has the same fields.
		p.read(id, &binding)
		assert.SlicesEqual(p.t, binding.Subjects, []rbacv1.Subject{account}, id)
		role := binding.RoleRef.Kind + "/" + binding.RoleRef.Name
		if binding.RoleRef.Kind == "Role" {
			role = "Role/" + binding.Namespace + "/" + binding.RoleRef.Name
		}
		var rules rbacv1.ClusterRole // A Role has all of these fields but one.
		p.read(role, &rules)
		for _, rule := range rules.Rules {
			if len(rule.NonResourceURLs)+len(rule.ResourceNames) > 0 {
				p.t.Errorf("%s has a rule of another kind: %v", role, rule)
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all.Insert(fmt.Sprintf("%s %s.%s in %q", verb, resource, group, binding.Namespace))
					}
				}
			}
		}
	}
	return all
}

// wanted returns the permissions that the code asks for.
func wanted(leases rbacv1.PolicyRule, namespaces ...string) sets.Set[string] {
	all := sets.New[string]()
	add := func(rule rbacv1.PolicyRule, namespace string) {
		for _, verb := range rule.Verbs {
			all.Insert(fmt.Sprintf("%s %s.%s in %q", verb, rule.Resources[0], rule.APIGroups[0], namespace))
		}
	}
	for _, namespace := range namespaces {
		for _, p := range controllerRules {
			add(p, namespace)
		}
	}
	add(leases, systemNamespace)
	add(policyRule("authentication.k8s.io", "tokenreviews", "create"), "")
	add(policyRule("authorization.k8s.io", "subjectaccessreviews", "create"), "")
	return all
}

// JOB-48, TRK-34: the account has the permissions that the controller checks at its start, the permissions for
// --leader-elect in its own namespace and for --metrics-secure, and no others.
func TestManifestsGrantWhatIsNeeded(t *testing.T) {
	for _, c := range []struct {
		args       []string
		namespaces []string
		leases     rbacv1.PolicyRule
	}{
		{nil, []string{metav1.NamespaceAll}, leaseRule},
		{[]string{"--namespaces", "b,a,b"}, []string{"a", "b"}, leaseRule},
		{[]string{"--namespaces", "b", "--shards", "6"}, []string{"b"}, shardRule},
		{[]string{"--namespaces", systemNamespace}, []string{systemNamespace}, leaseRule},
	} {
		p := manifestsOf(t, append([]string{"--print-manifests"}, c.args...)...)
		have, want := p.grants(), wanted(c.leases, c.namespaces...)
		if missing, more := want.Difference(have), have.Difference(want); len(missing)+len(more) > 0 {
			t.Errorf("%q: not granted: %q; granted without need: %q", c.args, sets.List(missing), sets.List(more))
		}
		for id := range p.objects {
			if len(c.args) > 0 && strings.HasPrefix(id, "ClusterRole") && strings.HasSuffix(id, "/"+controllerName) {
				t.Errorf("%q: %s is left over", c.args, id)
			}
		}
		var reader rbacv1.ClusterRole
		p.read("ClusterRole/batchjob-metrics-reader", &reader)
		if want := (rbacv1.PolicyRule{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}); len(reader.Rules) != 1 || reader.Rules[0].String() != want.String() {
			t.Errorf("who scrapes gets %v", reader.Rules)
		}
	}
}

// Issue 7, point 1: the exact fields of restricted pod security; another test checks that an API server agrees.
func TestManifestsAreRestricted(t *testing.T) {
	p := manifestsOf(t, "--print-manifests")
	pod, container := p.deployment().Spec.Template.Spec, p.container()
	if want := (corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true), // without a user, as OpenShift chooses one
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}); pod.SecurityContext.String() != want.String() {
		t.Errorf("the pod's security context: %v", pod.SecurityContext)
	}
	if want := (corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true), RunAsGroup: ptr.To[int64](65532),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}); container.SecurityContext.String() != want.String() {
		t.Errorf("the container's security context: %v", container.SecurityContext)
	}
	if image, err := os.ReadFile("../../../Dockerfile"); err != nil || !regexp.MustCompile(`(?m)^USER [1-9][0-9]*(:[0-9]+)?$`).Match(image) {
		t.Errorf("runAsNonRoot alone needs an image whose user is a number: %v", err)
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC || len(pod.Volumes)+len(pod.InitContainers)+len(container.VolumeMounts) > 0 {
		t.Errorf("the pod has more than it needs: %v", pod)
	}
	var namespace corev1.Namespace
	p.read("Namespace/"+systemNamespace, &namespace)
	for _, mode := range []string{"enforce", "audit", "warn"} {
		assert.Equal(t, namespace.Labels["pod-security.kubernetes.io/"+mode], "restricted", mode)
	}
	var account corev1.ServiceAccount
	p.read("ServiceAccount/batchjob-system/batchjob-controller", &account)
	if pod.ServiceAccountName != account.Name || *account.AutomountServiceAccountToken || !*pod.AutomountServiceAccountToken {
		t.Errorf("account %v; pod with %q, token %v", account, pod.ServiceAccountName, pod.AutomountServiceAccountToken)
	}
}

// Issue 7, point 1: the printed manifests are consistent with each other and with the flags of the program.
func TestManifestsFitTheController(t *testing.T) {
	p := manifestsOf(t, "--print-manifests")
	d, container := p.deployment(), p.container()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	o := &Options{IOStreams: streams}
	cmd := newCommandFor(o)
	if container.Args[0] != cmd.Name() {
		t.Fatalf("the container runs %q", container.Args)
	}
	assert.NoError(t, cmd.ParseFlags(container.Args[1:]), container.Args)
	assert.NoError(t, o.Validate(), container.Args)
	// It is the default name, which explanations look for.
	assert.Equal(t, o.leader.ResourceName, leader.LeaseName(controller.DefaultManagedBy), "the Lease")
	if !o.leader.LeaderElect || *d.Spec.Replicas != 2 || o.logging.Format != "json" {
		t.Errorf("%d replicas with %q", *d.Spec.Replicas, container.Args)
	}
	ports := map[string]string{}
	for _, port := range container.Ports {
		ports[port.Name] = fmt.Sprint(port.ContainerPort)
	}
	for name, address := range map[string]string{"metrics": o.metricsAddress, "probes": o.healthAddress} {
		if _, port, err := net.SplitHostPort(address); err != nil || ports[name] != port {
			t.Errorf("port %s is %q, and the controller serves at %q", name, ports[name], address)
		}
	}
	for path, probe := range map[string]*corev1.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.String() != "probes" || probe.HTTPGet.Scheme != "" {
			t.Errorf("the probe for %s asks %v", path, probe.HTTPGet)
		}
	}
	start := container.StartupProbe
	if start.HTTPGet.Path != "/healthz" || start.HTTPGet.Port.String() != "probes" {
		t.Errorf("the startup probe asks %v", start.HTTPGet)
	}
	if patience := time.Duration(start.PeriodSeconds*start.FailureThreshold) * time.Second; patience < 2*(2*serverInfoTimeout+permissionTimeout) {
		t.Errorf("it is killed %v after its start, when it may still ask the API server", patience)
	}
	calls := max(eventTimeout, o.config.WithDefaults().CallTimeout)
	if grace := time.Duration(*d.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; grace < calls+o.leader.RenewDeadline.Duration {
		t.Errorf("it is killed after %v, when calls may take %v and the Lease is to be given back", grace, calls)
	}
	if r := container.Resources; r.Requests.Memory().IsZero() || r.Requests.Cpu().IsZero() || r.Limits.Memory().Cmp(*r.Requests.Memory()) <= 0 || !r.Limits.Cpu().IsZero() {
		t.Errorf("resources: %v", container.Resources)
	}
	// At least a tenth of the memory is left for memory outside Go's heap. The unit is KiB or MiB.
	if e := container.Env; len(e) != 3 || e[0].Name != "GOMEMLIMIT" || e[1].Name != "GOGC" || e[2].Name != "GOMAXPROCS" || e[2].Value != "1" {
		t.Errorf("environment: %v", e)
	} else if soft, err := resource.ParseQuantity(strings.TrimSuffix(e[0].Value, "B")); err != nil || soft.Value() > container.Resources.Limits.Memory().Value()*9/10 || soft.Value() < container.Resources.Limits.Memory().Value()*8/10 {
		t.Errorf("GOMEMLIMIT=%s with a limit of %v: %v", e[0].Value, container.Resources.Limits.Memory(), err)
	}
}

// Issue 7, point 1: all selectors match the Deployment's pods, and all objects have the labels.
func TestManifestsSelectTheirPods(t *testing.T) {
	p := manifestsOf(t, "--print-manifests")
	d := p.deployment()
	var budget policyv1.PodDisruptionBudget
	p.read("PodDisruptionBudget/batchjob-system/batchjob-controller", &budget)
	var service corev1.Service
	p.read("Service/batchjob-system/batchjob-controller-metrics", &service)
	apart := d.Spec.Template.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm
	for what, labels := range map[string]map[string]string{
		"Deployment": d.Spec.Selector.MatchLabels, "budget": budget.Spec.Selector.MatchLabels,
		"Service": service.Spec.Selector, "affinity": apart.LabelSelector.MatchLabels,
	} {
		if !maps.Equal(labels, d.Spec.Template.Labels) || len(labels) != 2 {
			t.Errorf("%s selects %v, pods have %v", what, labels, d.Spec.Template.Labels)
		}
	}
	if port := service.Spec.Ports[0]; len(service.Spec.Ports) != 1 || port.Name != "metrics" || port.Port != 8443 || port.TargetPort.String() != "metrics" {
		t.Errorf("the Service has %v", service.Spec.Ports)
	}
	if budget.Spec.MinAvailable != nil || budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("the budget is %v", budget.Spec)
	}
	for id, object := range p.objects {
		labels := object.GetLabels()
		if labels["app.kubernetes.io/name"] != "kubectl-batchjob" || object.GetKind() != "Namespace" && labels["app.kubernetes.io/component"] != "controller" {
			t.Errorf("%s has the labels %v", id, labels)
		}
		if kind := object.GetKind(); strings.HasPrefix(kind, "Cluster") || kind == "Namespace" {
			continue
		}
		assert.Equal(t, object.GetNamespace(), systemNamespace, id)
	}
}

// Issue 7, point 3: the complete output, for review.
func TestPrintedManifestsAreAsRecorded(t *testing.T) {
	for name, args := range map[string][]string{
		"default":     {"--print-manifests"},
		"team":        {"--print-manifests", "--image", "registry.example.com/batchjob:v0.1.0", "--namespaces", "ml,ci", "--managed-by", "example.com/jobs", "--kube-api-qps", "50", "--feature-gates", "JobSuccessPolicy=false", "-v5", "--logging-format", "text"},
		"team-policy": {"--print-manifests=admission/managed-by", "--namespaces", "ml,ci", "--managed-by", "example.com/jobs"},
	} {
		clitest.Golden(t, filepath.Join("manifests", name+".golden"), printManifests(t, args...).Out)
	}
}

// Issue 7, point 3: flags of the controller become arguments of its pods, each once.
func TestPrintManifestsPassesFlagsOn(t *testing.T) {
	const lease = "--leader-elect-resource-name=batchjob-batchjob-dev-controller"
	const pods = "controller --leader-elect " + lease
	for given, want := range map[string]string{
		"":                                 pods + " --logging-format=json",
		"--leader-elect":                   "controller --leader-elect=true " + lease + " --logging-format=json",
		"--logging-format text":            pods + " --logging-format=text",
		"--replace-builtin":                pods + " --logging-format=json --replace-builtin=true",
		"--kube_api_burst 7 -v=3":          pods + " --logging-format=json --kube-api-burst=7 --v=3",
		"--namespaces b --namespaces a,b":  pods + " --logging-format=json --namespaces=a,b",
		"--vmodule engine=4,apply=5":       pods + " --logging-format=json --vmodule=engine=4,apply=5",
		"--leader-elect-lease-duration 1m": pods + " --logging-format=json --leader-elect-lease-duration=1m0s",
		"--feature-gates JobSuccessPolicy=false --feature-gates PodFailurePolicyName=false": pods + " --logging-format=json --feature-gates=JobSuccessPolicy=false,PodFailurePolicyName=false",
		"--concurrent-job-syncs 20 --managed-by example.com/jobs --kube-api-qps=-1":         "controller --leader-elect --leader-elect-resource-name=" + leader.LeaseName("example.com/jobs") + " --logging-format=json --concurrent-job-syncs=20 --kube-api-qps=-1 --managed-by=example.com/jobs",
		"--managed-by example.com/jobs --leader-elect-resource-name x":                      "controller --leader-elect --leader-elect-resource-name=x --logging-format=json --managed-by=example.com/jobs",
		"--leader-elect-resource-name mine --namespaces a":                                  "controller --leader-elect --leader-elect-resource-name=mine --logging-format=json --namespaces=a",
		// The kubelet would expand $(NAME) as a variable, and turns $$ into one dollar.
		"--vmodule=$(POD)=5,a$b=1,c$$=2": pods + " --logging-format=json --vmodule=$$(POD)=5,a$$b=1,c$$$$=2",
	} {
		args := append([]string{"--print-manifests"}, strings.Fields(given)...)
		assert.Equal(t, strings.Join(manifestsOf(t, args...).container().Args, " "), want, given)
	}
}

// With --shards, the Deployment has more replicas, as all of them work.
// Requirements: SHD-07
func TestPrintManifestsWithShards(t *testing.T) {
	for shards, replicas := range map[string]int32{"1": 2, "2": 2, "6": 3} {
		p := manifestsOf(t, "--print-manifests", "--shards", shards)
		if d := p.deployment(); *d.Spec.Replicas != replicas || !slices.Contains(p.container().Args, "--shards="+shards) {
			t.Errorf("%s shards: %d replicas, which run %q", shards, *d.Spec.Replicas, p.container().Args)
		}
	}
}

// Issue 7, point 3: a release prints its own image; an unreleased build prints a release's image and a warning.
func TestPrintManifestsChoosesTheImage(t *testing.T) {
	before := cmdutil.Version
	t.Cleanup(func() { cmdutil.Version = before })
	for _, c := range []struct{ version, flag, image, wantText string }{
		{"v1.2.3", "", imageRepository + ":v1.2.3", ""},
		{"v1.2.3-rc.1", "", imageRepository + ":v1.2.3-rc.1", ""},
		{"v1.2.3", "example.com:5000/x@sha256:abc", "example.com:5000/x@sha256:abc", ""},
		{"v1.2.3-4-g54a4e92-dirty", "", imageRepository + ":v0.1.0", "v1.2.3-4-g54a4e92-dirty"},
		{"v0.0.0-20261122015758-54a4e92", "", imageRepository + ":v0.1.0", "--image"},
		{"(devel)", "", imageRepository + ":v0.1.0", "warning: no image is published for this build"},
		{"(devel)", "x:dev", "x:dev", ""},
	} {
		cmdutil.Version = c.version
		args := []string{"--print-manifests"}
		if c.flag != "" {
			args = append(args, "--image="+c.flag)
		}
		assert.Equal(t, manifestsOf(t, args...).container().Image, c.image, c.version, args)
		if got := printManifests(t, args...).ErrOut; c.wantText == "" && got != "" || !strings.Contains(got, c.wantText) {
			t.Errorf("%s %q: stderr %q", c.version, args, got)
		}
	}
	cmdutil.Version = "(devel)"
	if got := printManifests(t, "--print-manifests=admission"); got.ErrOut != "" || got.Code != cmdutil.ExitDone {
		t.Errorf("policies need no image: exit code %d, %s", got.Code, got.ErrOut)
	}
}

// Issue 7, point 3: the optional parts, each without what another part contains.
func TestPrintManifestsParts(t *testing.T) {
	count := func(args ...string) map[string]int {
		kinds := map[string]int{}
		for _, object := range manifestsOf(t, args...).objects {
			kinds[object.GetKind()]++
		}
		return kinds
	}
	everything := "--print-manifests=" + strings.Join(manifestParts(), ",")
	for _, part := range manifestParts() {
		part, all := count("--print-manifests="+part), count(everything)
		for kind, n := range part {
			if all[kind] < n {
				t.Errorf("%s: %d of %d %s", everything, all[kind], n, kind)
			}
		}
	}
	if got := count("--print-manifests=admission,admission/rule-names,admission"); got["ValidatingAdmissionPolicy"] != 3 || got["MutatingAdmissionPolicy"] != 1 || got["Deployment"] != 0 {
		t.Errorf("admission: %v", got)
	}
	if got := count("--print-manifests=admission/rule-names,default"); got["ValidatingAdmissionPolicy"] != 3 || got["MutatingAdmissionPolicy"] != 0 || got["Deployment"] != 1 {
		t.Errorf("admission/rule-names and default: %v", got)
	}
	words, _ := program.Complete(t, "controller", "--print-manifests=")
	if !slices.Equal(words, manifestParts()) || manifestParts()[0] != controllerPart {
		t.Errorf("a shell is offered %q, there are %q", words, manifestParts())
	}
}

// Issue 7, points 2 and 3: the policy assigns Jobs to the controller that is printed with it.
func TestPrintManifestsManagedBy(t *testing.T) {
	for _, managedBy := range []string{"batchjob.dev/controller", "example.com/jobs", "example.com/it's"} {
		p := manifestsOf(t, "--print-manifests=admission/managed-by", "--managed-by", managedBy)
		text, err := yaml.Marshal(p.objects["MutatingAdmissionPolicy/managed-by.batchjob.dev"].Object["spec"].(map[string]any)["mutations"])
		assert.NoError(t, err)
		var mutations []struct{ JSONPatch struct{ Expression string } }
		assert.NoError(t, yaml.Unmarshal(text, &mutations))
		if want := `[JSONPatch{op: "add", path: "/spec/managedBy", value: "` + managedBy + `"}]`; len(mutations) != 1 || mutations[0].JSONPatch.Expression != want {
			t.Errorf("got %+v, want %s", mutations, want)
		}
	}
}

// Issue 7, points 2 and 3: a label on another namespace assigns no Job to a controller that watches some namespaces
// only.
func TestPrintManifestsGivesJobsWhereTheControllerLooks(t *testing.T) {
	const binding = "MutatingAdmissionPolicyBinding/managed-by.batchjob.dev"
	for args, want := range map[string]string{
		"--print-manifests=admission":                                               "",
		"--print-manifests=admission --namespaces b,a":                              "kubernetes.io/metadata.name in (a,b)",
		"--print-manifests=admission/managed-by --namespaces a":                     "kubernetes.io/metadata.name in (a)",
		"--print-manifests=default,admission/managed-by --namespaces a":             "kubernetes.io/metadata.name in (a)",
		"--print-manifests=admission/rule-names,default,admission --namespaces a,a": "kubernetes.io/metadata.name in (a)",
	} {
		p := manifestsOf(t, strings.Fields(args)...)
		if got := len(p.objects["MutatingAdmissionPolicy/managed-by.batchjob.dev"].Object) > 0; !got {
			t.Errorf("%s: no policy", args)
		}
		var b admissionv1.MutatingAdmissionPolicyBinding
		p.read(binding, &b)
		got := ""
		if m := b.Spec.MatchResources; m != nil {
			got = metav1.FormatLabelSelector(m.NamespaceSelector)
		}
		assert.Equal(t, got, want, args, "the binding")
		if roles := strings.Contains(args, "default"); roles != (p.objects["Role/a/"+controllerName] != nil) {
			t.Errorf("%s: a role in a: %v", args, !roles)
		}
	}
}

// Issue 7, point 3: invalid combinations are usage errors, and nothing is printed.
func TestPrintManifestsUsage(t *testing.T) {
	for args, wantText := range map[string]string{
		"--print-manifests=monitoring":                                         `"monitoring"; must be one of: default, admission, `,
		"--print-manifests=":                                                   "must name a part: default, ",
		"--print-manifests admission":                                          "--print-manifests=admission",
		"--print-manifests x":                                                  `no arguments, but got "x"`,
		"--image x:y":                                                          "--image requires --print-manifests",
		"--print-manifests -n ml":                                              "use --namespaces",
		"--print-manifests --kubeconfig x":                                     "--kubeconfig cannot be used with",
		"--print-manifests --context x":                                        "--context cannot be used with",
		"--print-manifests --as x":                                             "--as cannot be used with",
		"--print-manifests --leader-elect=false":                               "two replicas",
		"--print-manifests --leader-elect-resource-namespace x":                "batchjob-system",
		"--print-manifests --leader-elect-renew-deadline 20s":                  "lease duration",
		"--print-manifests --metrics-bind-address 0":                           "--metrics-bind-address cannot be used with",
		"--print-manifests --metrics-secure=false":                             "--metrics-secure cannot be used with",
		"--print-manifests --health-probe-bind-address :1":                     "--health-probe-bind-address cannot be used with",
		"--print-manifests --tls-cert-file x --tls-private-key-file y":         "add a volume",
		"--print-manifests --managed-by x":                                     "--managed-by",
		"--print-manifests --namespaces A":                                     `"A"`,
		"--namespaces=":                                                        "--namespaces is empty; omit it",
		"--namespace=":                                                         "--namespace is empty; omit it",
		"--print-manifests --namespaces=":                                      "--namespaces is empty; omit it",
		"--print-manifests --image=":                                           "--image is empty; omit it",
		"--print-manifests --image=:v1":                                        "no name",
		"--print-manifests --image=@sha256:ab":                                 "no name",
		"--print-manifests --image=x.io:5000/":                                 "no name",
		"--print-manifests --image=x.io/:v1":                                   "no name",
		"--print-manifests --image=x.io//y":                                    "empty part",
		"--print-manifests --image=/y":                                         "empty part",
		"--print-manifests --image=x\x1b[2J":                                   "a space or a control",
		"--print-manifests --image=x\x00":                                      "a space or a control",
		"--print-manifests=admission/rule-names --namespaces a":                "--namespaces applies to the controller's Deployment",
		"--print-manifests=admission --kube-api-qps 5":                         "--kube-api-qps applies to the controller's Deployment",
		"--print-manifests=admission/rule-names --image x --managed-by a.io/b": "--image applies to the controller's Deployment",
	} {
		printManifests(t, strings.Fields(args)...).Want(t, cmdutil.ExitUsage, "", wantText)
	}
	for _, image := range []string{"x y", " x", "x\n", "x\u00a0y"} {
		printManifests(t, "--print-manifests", "--image", image).Want(t, cmdutil.ExitUsage, "", "a space or a control")
	}
}
