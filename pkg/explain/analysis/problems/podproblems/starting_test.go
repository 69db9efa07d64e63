package podproblems_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: PND-01
func TestUnschedulablePodNamesReasonsAndWhatToDo(t *testing.T) {
	for message, want := range map[string]struct{ text, advice, command string }{
		"0/9 nodes are available: 1 Insufficient nvidia.com/gpu, 8 node(s) didn't match Pod's node affinity/selector. preemption: x": {"1 node lacks free nvidia.com/gpu, 8 do not match its node affinity or selector", "free nvidia.com/gpu on a node, or add a node that offers it (the pod requests 2)", `kubectl get nodes -o 'custom-columns=NODE:.metadata.name,ALLOCATABLE:.status.allocatable.nvidia\.com/gpu'`},
		"0/5 nodes are available: 5 Insufficient memory.":                                                          {"5 nodes lack free memory", "lower what the pod requests of memory, which is 900Gi,", "kubectl describe nodes"},
		"0/5 nodes are available: 5 Insufficient cpu.":                                                             {"5 nodes lack free cpu", "free cpu on the nodes", "kubectl describe nodes"},
		"0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: batch}.":                             {"3 nodes have an untolerated taint {dedicated: batch}", "recreate the Job with a toleration for the taint {dedicated: batch}", "kubectl get nodes -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints"},
		"0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.":               {"3 nodes are not ready (taint node.kubernetes.io/not-ready)", "find out why the nodes are not ready", "kubectl describe nodes"},
		"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.":                            {"3 nodes do not match its node affinity or selector", "compare nodeSelector and affinity", "kubectl get nodes --show-labels"},
		"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.":                         {"3 nodes do not satisfy its topology spread constraints", "recreate the Job with other topologySpreadConstraints", "kubectl get nodes --show-labels"},
		"0/3 nodes are available: 3 node(s) had volume node affinity conflict.":                                    {"3 nodes cannot use its volume (claim data)", "make room for the pod where its volume is (claim data)", "kubectl describe pvc data -n ns"},
		`0/3 nodes are available: persistentvolumeclaim "data" not found.`:                                         {"claim data does not exist; the Job waits forever", "create claim data, and the pod is scheduled", "kubectl get pvc -n ns"},
		"0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: x":                 {"claim data is not bound", "find out why claim data is not bound", "kubectl describe pvc data -n ns"},
		"0/7 nodes are available: 1 a, 1 b, 1 c, 1 d, 1 e, 1 f, 1 g.":                                              {"1 node: “a”, 1 node: “b”, 1 node: “c”, 1 node: “d”, 1 node: “e”, 2 other reasons", "look for the pod in the log of kube-scheduler", "kubectl describe pod train-x -n ns"},
		"0/1 tasks in gang unschedulable: pod group is not ready, 1 Pending.":                                      {"its PodGroup cannot start as a whole (1 Pending)", "make room for all pods of the PodGroup at once", "kubectl describe podgroups -n ns"},
		"0/2 nodes are available: 1 Too many pods, 1 node(s) didn't have free ports for the requested pod ports. ": {"1 node runs as many pods as it may, 1 has its host port in use", "add nodes that the pod may use: these run as many pods as they may", "kubectl describe nodes"},
	} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobOfOne("data"), explaintest.UnscheduledPod(message)))
		explaintest.WantVerdict(t, r, "The Job is stalled: no node can take the pod: "+want.text+".")
		if len(r.Advice) == 0 || !strings.HasPrefix(r.Advice[0].Text, want.advice) || r.Advice[0].Command != want.command {
			t.Errorf("%s: %+v, want %q, %q", message, r.Advice, want.advice, want.command)
		}
	}
}

// Requirements: PND-07
func TestClaimThatIsNotBoundIsNamedAmongSeveral(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobOfOne("data", "cache"), explaintest.UnscheduledPod("0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims."))
	explaintest.WantVerdict(t, explaintest.Report(f), "The Job is stalled: no node can take the pod: a PersistentVolumeClaim of the pod (data or cache) is not bound.")
	f.Claims = []meaning.Claim{{Name: "data", Phase: "Bound"}, {Name: "cache", Phase: "Pending", StorageClass: "fast", Warning: `storageclass.storage.k8s.io "fast" not found`}}
	r := explaintest.Report(f)
	explaintest.WantVerdict(t, r, `The Job is stalled: no node can take the pod: claim cache is not bound: “storageclass.storage.k8s.io "fast" not found”.`)
	explaintest.WantText(t, r, "create StorageClass fast, or recreate claim cache")
}

// Requirements: PND-03
func TestImageHasTheReasonWhyItCannotBePulled(t *testing.T) {
	for message, want := range map[string]struct{ text, advice string }{
		"429 Too Many Requests - Server message: toomanyrequests":     {"cannot be pulled: the registry's rate limit is exceeded", "pull the image with an account, which has a higher limit"},
		"pull access denied, repository does not exist":               {"cannot be pulled: the registry denied access; credentials are missing (no imagePullSecrets), or the repository does not exist", "give the pods credentials for docker.io: a Secret of type kubernetes.io/dockerconfigjson (kubectl create secret docker-registry) in imagePullSecrets"},
		"no match for platform in manifest: not found":                {"cannot be pulled: it lacks the platform", "have the pods run on nodes of its platform"},
		"dial tcp: lookup registry.corp on 10.0.0.2:53: no such host": {"cannot be pulled: the host name of its registry, registry.corp, cannot be resolved on the node", "correct the name of the registry"},
		"stopped": {"cannot be pulled: “stopped”; the Job waits forever", "the events of the pod have the whole message"},
	} {
		// Kubelets before 1.31 report the reason only in an event, and the last event has none.
		old := explaintest.InputOf(explaintest.JobOfOne(), explaintest.PendingPod("ImagePullBackOff", `Back-off pulling image "train:1"`))
		old.Events = []input.Event{explaintest.PodEvent("Failed", `Failed to pull image "train:1": `+message, 2*time.Minute), explaintest.PodEvent("Failed", "Error: ErrImagePull", time.Minute)}
		for _, f := range []input.Input{old, explaintest.InputOf(explaintest.JobOfOne(), explaintest.PendingPod("ImagePullBackOff", `Back-off pulling image "train:1": ErrImagePull: `+message))} {
			r := explaintest.Report(f)
			explaintest.WantFirst(t, f, "image train:1 of container main "+want.text)
			if len(r.Advice) != 1 || !strings.HasPrefix(r.Advice[0].Text, want.advice) {
				t.Errorf("%s: %+v, want %q", message, r.Advice, want.advice)
			}
		}
	}
	limited := explaintest.Report(explaintest.InputOf(explaintest.JobOfOne(), explaintest.PendingPod("ImagePullBackOff", `Back-off pulling image "train:1": ErrImagePull: 429 Too Many Requests`)))
	if p := explaintest.Problem(t, limited, explain.ProblemImagePull); !p.MayContinue || strings.Contains(p.Text, "forever") {
		t.Errorf("a rate limit passes by itself: %s", p.Text)
	}
	withSecret := explaintest.PendingPod("ImagePullBackOff", `Back-off pulling image "train:1": ErrImagePull: pull access denied`)
	withSecret.PullSecrets = true
	explaintest.WantFirst(t, explaintest.InputOf(explaintest.JobOfOne(), withSecret), "image train:1 of container main cannot be pulled: the registry denied access; credentials are missing or wrong")
	explaintest.WantFirst(t, explaintest.InputOf(explaintest.JobOfOne(), explaintest.PendingPod("ErrImageNeverPull", "")), "image train:1 of container main is not present on node node-1, and imagePullPolicy is Never")
}

// Requirements: PND-04
func TestPodWithANodeHasTheReasonWhyItCannotStart(t *testing.T) {
	for _, tc := range []struct{ reason, message, text, advice string }{
		{"FailedMount", `MountVolume.MountDevice failed for volume "pvc-77" : driver name efs.csi.aws.com not found in the list of registered CSI drivers`, "CSI driver efs.csi.aws.com, which the volume of its claim data needs, is not found on its node; the Job waits forever", "check that the node pod of the CSI driver runs"},
		{"FailedMount", `MountVolume.SetUp failed for volume "tls" : references non-existent secret key: tls.key`, "Secret web-tls has no key tls.key; its volume tls needs it; the Job waits forever", "add key tls.key to Secret web-tls"},
		{"FailedMount", `MountVolume.SetUp failed for volume "tls" : secret "web-tls" not found`, "Secret web-tls in namespace ns does not exist; its volume tls needs it; the Job waits forever", "create Secret web-tls"},
		{"FailedMount", "Unable to attach or mount volumes: unmounted volumes=[v-data]: timed out waiting for the condition", "its volume v-data (claim data) was not attached or mounted in time", "find out whether a pod on another node uses claim data: with access mode ReadWriteOnce, one node at a time can mount it"},
		{"FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b" Volume is already used by pod(s) bootstrap-sync`, "the volume of its claim data is already used by bootstrap-sync", "recreate the Job with podAffinity to the pod that uses the volume"},
		{"FailedCreatePodSandBox", `Failed to create pod sandbox: plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`, "network plugin aws-cni has no IP address left for it", "free IP addresses"},
		{"NetworkNotReady", "network is not ready: cni plugin not initialized", "the network of its node is not ready", "check the pods of the network plugin"},
	} {
		f := explaintest.InputOf(explaintest.JobOfOne("data"), explaintest.PendingPod("", ""))
		f.Events = []input.Event{explaintest.PodEvent(tc.reason, tc.message, time.Minute)}
		r := explaintest.Report(f)
		explaintest.WantVerdict(t, r, "The Job is stalled: the pod cannot start because "+tc.text+".")
		if len(r.Advice) != 1 || !strings.HasPrefix(r.Advice[0].Text, tc.advice) {
			t.Errorf("%s: %+v, want %q", tc.message, r.Advice, tc.advice)
		}
	}
}

// Requirements: PND-03
func TestImageThatIsNotPulledForAnUnknownReasonNamesItsNode(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobOfOne(), explaintest.PendingPod("ImagePullBackOff", `Back-off pulling image "train:1"`))
	backOff := explaintest.AboutPod("train-x", "Normal", "kubelet", "BackOff", `Back-off pulling image "train:1"`)
	backOff.Count = 121
	f.Events = []input.Event{backOff}
	r := explaintest.Report(f)
	explaintest.WantVerdict(t, r, "The Job is stalled: image train:1 of container main cannot be pulled; the Job waits forever.")
	if !explaintest.HasAdvice(r, "check first whether its tag 1 exists in the registry; if so, find the reason, which no event has (the kubelet reported the failure 121 times), on node node-1", "crictl pull train:1", "ctr -n k8s.io images import") {
		t.Errorf("%+v", r.Advice)
	}
	f.EventsRead = false // An event may say why.
	explaintest.WantWithout(t, explaintest.Report(f), "which no event has")
}

// Requirements: PND-03
func TestPullSecretThatTheKubeletDoesNotFindIsTheCause(t *testing.T) {
	const denied = `Back-off pulling image "train:1": ErrImagePull: pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`
	f := explaintest.InputOf(explaintest.JobOfOne(), explaintest.PendingPod("ImagePullBackOff", denied))
	f.Job.Spec.Template.Spec.ServiceAccountName = "reports"
	explaintest.WantText(t, explaintest.Report(f), "imagePullSecrets of the pod template, or of its ServiceAccount reports")
	f.Events = []input.Event{explaintest.AboutPod("train-x", "Warning", "kubelet", "FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.")}
	explaintest.WantText(t, explaintest.Report(f), "the registry denied access; its pull secret regcred does not exist", "create Secret regcred of type")
}

// Requirements: PND-03, CLI-06
func TestInitContainerThatCannotBeStartedIsCalledOne(t *testing.T) {
	for reason, want := range map[string]string{
		"ImagePullBackOff":           "image train:1 of init container setup cannot be pulled",
		"CreateContainerConfigError": "init container setup cannot be started",
		"InvalidImageName":           "the image name of init container setup is invalid",
	} {
		pod := explaintest.PodOf("train-x", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "train:1"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "setup", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		})
		explaintest.WantText(t, explaintest.Report(explaintest.InputOf(explaintest.JobOfOne(), pod)), want)
	}
}

// Requirements: PND-04
func TestPodWithoutWarningsNamesWhatHasToWorkOnIt(t *testing.T) {
	pulling, refused := explaintest.AboutPod("train-x", "Normal", "kubelet", "Pulling", `Pulling image "train:1"`), explaintest.PendingPod("Blocked", "")
	refused.Unusual = &input.Unusual{StatusReason: "AppArmor", Message: `Cannot enforce AppArmor: profile "scan" is not loaded`}
	for name, tc := range map[string]struct {
		pod             *input.Pod
		scheduler       string
		events          []input.Event
		text            string
		advice, command string
	}{
		"a long pull": {explaintest.PendingPod("", ""), "", []input.Event{pulling}, "node node-1 has been pulling image train:1 for 12m", "check how large the image is, how fast node node-1 downloads", ""}, "a large image": {explaintest.PendingPod("", ""), "", []input.Event{{Pod: "train-x", Type: "Normal", Reason: "Pulling", Message: `Pulling image "train:1"`, Source: "kubelet", Last: explaintest.Noon.Add(-2 * time.Minute)}}, "image train:1 is being pulled on node node-1", "wait, as large images take minutes", ""},
		"a refusal": {refused, "", nil, `the pod cannot start because its kubelet refuses it: “Cannot enforce AppArmor: profile "scan" is not loaded”`, "load AppArmor profile scan on the node (apparmor_parser)", "kubectl describe node node-1"}, "a dead node": {explaintest.PendingPod("", ""), "", nil, "the pod has a node but has not started", "check whether node node-1 is ready", "kubectl get node node-1"},
		"a scheduler": {explaintest.PodOf("train-x", unscheduled), "volcano", nil, "is scheduler volcano (schedulerName) running?", "start scheduler volcano, or recreate the Job without schedulerName", ""}, "no scheduler": {explaintest.PodOf("train-x", unscheduled), "", nil, "is kube-scheduler running?", "check whether kube-scheduler is running", "kubectl get pods -n kube-system -l component=kube-scheduler"},
	} {
		f := explaintest.InputOf(explaintest.JobOfOne(), tc.pod)
		f.Job.Spec.Template.Spec.SchedulerName, f.Events = tc.scheduler, tc.events
		r := explaintest.Report(f)
		explaintest.WantText(t, r, tc.text)
		if len(r.Advice) == 0 || !strings.HasPrefix(r.Advice[0].Text, tc.advice) || r.Advice[0].Command != tc.command {
			t.Errorf("%s: %+v", name, r.Advice)
		}
	}
}

func unscheduled(p *corev1.Pod) {
	p.CreationTimestamp = explaintest.Ago(10 * time.Minute)
	p.Spec.NodeName, p.Status.Phase, p.Status.Conditions = "", corev1.PodPending, nil
}

// Requirements: PND-01
func TestRuleOfThePodTemplateThatNoNodeMeetsIsNamed(t *testing.T) {
	job := explaintest.JobOfOne()
	spec := &job.Spec.Template.Spec
	spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoExecute}}
	spec.NodeSelector = map[string]string{"disk": "ssd"}
	spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}, {Key: "gpu", Operator: corev1.NodeSelectorOpExists}}},
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpIn, Values: []string{"batch"}}}},
	}}}}
	for message, want := range map[string]struct{ text, advice, command string }{
		"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.": {
			"3 nodes do not match its node affinity (disk=ssd and zone in (a, b) and gpu or pool=batch)", "correct the node affinity of the pod template (disk=ssd and zone in (a, b) and gpu or pool=batch)", "kubectl get nodes -L 'disk,gpu,pool,zone'",
		},
		"0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: batch}.": {
			"3 nodes have an untolerated taint {dedicated: batch}",
			`recreate the Job with a toleration for the taint {dedicated: batch} in its pod template (key: dedicated, value: batch); the one that it has for this key is for another taint (value "gpu", effect NoExecute)`, "kubectl get nodes -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints",
		},
	} {
		r := explaintest.Report(explaintest.InputOf(job, explaintest.UnscheduledPod(message)))
		explaintest.WantText(t, r, want.text)
		if !strings.HasPrefix(r.Advice[0].Text, want.advice) || r.Advice[0].Command != want.command {
			t.Errorf("%+v", r.Advice)
		}
	}
}
