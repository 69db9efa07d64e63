package advice_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// withVolumes gives the container a hostPath, an emptyDir and a ConfigMap.
func withVolumes(j *batchv1.Job) {
	spec := &j.Spec.Template.Spec
	spec.Volumes = []corev1.Volume{
		{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/opt/data/"}}},
		{Name: "tools", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "nas", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas.lan", Path: "/x"}}},
		{Name: "scripts", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "jobs"}}}},
	}
	spec.Containers[0].Env, spec.Containers[0].Resources.Limits = []corev1.EnvVar{{Name: "SCRIPT", Value: "/scripts/run.sh"}}, corev1.ResourceList{"memory": resource.MustParse("32Mi")}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "host", MountPath: "/host", SubPath: "part"}, {Name: "tools", MountPath: "/tools"}, {Name: "scripts", MountPath: "/scripts"}}
}

// CLI-06: the advice on a pod that does not start follows from its kubelet's message, here from real kubelets.
// Requirements: FCT-03
func TestPodThatDoesNotStartHasAdvice(t *testing.T) {
	for name, tc := range map[string]struct {
		pod    *input.Pod
		events []input.Event
		text   string // of the problem
		advice string
		// command is the advice's command, "" for describe pod, and "-" for none.
		command string
	}{
		"a secret is missing":     {explaintest.PendingPod("CreateContainerConfigError", `secret "none" not found`), nil, "container main cannot be started (CreateContainerConfigError): Secret none in namespace ns does not exist;", "create Secret none in namespace ns; the pod then starts automatically", "kubectl create secret generic none --from-file=FILE -n ns"},
		"a key is missing":        {explaintest.PendingPod("CreateContainerConfigError", "couldn't find key DB_PASSWORD in Secret ns/db-credentials"), nil, "container main cannot be started (CreateContainerConfigError): Secret db-credentials has no key DB_PASSWORD;", "add key DB_PASSWORD to Secret db-credentials", "kubectl describe secret db-credentials -n ns"},
		"a config map":            {explaintest.PendingPod("CreateContainerConfigError", `configmap "jobs" not found`), nil, "cannot be started", "create ConfigMap jobs in namespace ns;", "kubectl create configmap jobs --from-file=run.sh=FILE -n ns"},
		"a volume not mounted":    {explaintest.PendingPod("CreateContainerConfigError", `cannot find volume "host" to mount into container "main"`), nil, "(CreateContainerConfigError): volume host is not mounted;", "delete the pod, which then counts as failed: the next one mounts its volumes again", "kubectl delete pod train-x -n ns"},
		"the token of an account": {explaintest.PendingPod("CreateContainerConfigError", `cannot find volume "etl-token-7mdbp" to mount into container "main"`), nil, "volume etl-token-7mdbp, the token of its ServiceAccount, is not mounted;", "this volume has the token of ServiceAccount etl, which may have been deleted or created again: create the account if it does not exist", "kubectl get serviceaccount etl -n ns"},
		"a full disk":             {explaintest.PendingPod("CreateContainerError", "failed to create containerd container: write /var/lib/containerd/x: no space left on device"), nil, "its node has no disk space left (/var/lib/containerd)", "free disk space on node node-1", "kubectl describe node node-1"},
		"an old secret":           {explaintest.PendingPod("CreateContainerConfigError", `secret "none" not found`), []input.Event{explaintest.PodEvent("Failed", `Error: secret "none" not found`, 29*time.Minute)}, "(CreateContainerConfigError): Secret none in namespace ns did not exist 29m ago;", "check whether Secret none in namespace ns exists by now: if it does, delete the pod, which then counts as failed, or recreate the Job; otherwise create it", "kubectl get secret none -n ns"},
		"a tried secret": {explaintest.PendingPod("CreateContainerConfigError", `secret "none" not found`), []input.Event{
			explaintest.PodEvent("Failed", `Error: secret "none" not found`, 29*time.Minute), {Pod: "train-x", Type: "Normal", Reason: "Pulled", Source: "kubelet", First: explaintest.Noon.Add(-29 * time.Minute), Last: explaintest.Noon.Add(-4 * time.Minute), Count: 9},
		}, "Secret none in namespace ns does not exist;", "create Secret none in namespace ns; the pod then starts automatically", "kubectl create secret generic none --from-file=FILE -n ns"}, "no command": {explaintest.PendingPod("CreateContainerError", "failed to generate spec: no command specified"), nil, "neither its image nor the pod template has a command", "recreate the Job with a command for container main, or with an image that has one: train:1 has neither ENTRYPOINT nor CMD", "-"}, "too little memory": {explaintest.PendingPod("CreateContainerError", "getting the final child's pid from pipe caused: EOF"), nil, "its first process ends before its command runs, often for lack of memory", "raise the memory limit of container main, which is 32Mi: the container runtime", "-"}, "a local image": {explaintest.PendingPod("ImagePullBackOff", `Back-off pulling image "me/train": ErrImagePull: pull access denied for me/train, repository does not exist`), nil, "image train:1 of container main cannot be pulled: Docker Hub (its name has no registry) denied access", "if the image was built locally, push it to a registry", "-"},
		"a recent secret":     {explaintest.PendingPod("CreateContainerConfigError", `secret "none" not found`), []input.Event{explaintest.PodEvent("Failed", `Error: secret "none" not found`, 4*time.Minute)}, "Secret none in namespace ns does not exist;", "create Secret none in namespace ns; the pod then starts automatically", "kubectl create secret generic none --from-file=FILE -n ns"},
		"an old key":          {explaintest.PendingPod("CreateContainerConfigError", "couldn't find key PASSWORD in Secret ns/db"), []input.Event{explaintest.PodEvent("Failed", "Error: couldn't find key PASSWORD in Secret ns/db", 29*time.Minute)}, "Secret db had no key PASSWORD 29m ago;", "check whether Secret db has key PASSWORD by now: if it has, delete the pod", "kubectl describe secret db -n ns"},
		"an old volume":       {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.SetUp failed for volume "data" : configmap "none" not found`, 29*time.Minute)}, "the pod cannot start because ConfigMap none in namespace ns did not exist 29m ago; its volume data needs it", "check whether ConfigMap none in namespace ns exists by now", "kubectl get configmap none -n ns"},
		"a path of a node":    {explaintest.PendingPod("CreateContainerConfigError", "stat /opt/data/: no such file or directory"), nil, "(CreateContainerConfigError): hostPath /opt/data/ does not exist on its node;", "create /opt/data/ on the node, or recreate the Job with type DirectoryOrCreate for volume host (hostPath): with a subPath, the directory is not created otherwise", "-"},
		"a read-only node":    {explaintest.PendingPod("CreateContainerError", `failed to generate container "9f0d" spec: failed to generate spec: failed to mkdir "/opt/data": mkdir /opt: read-only file system`), nil, "its node cannot use hostPath /opt/data: read-only file system;", "recreate the Job with a path for volume host (hostPath) that exists on its nodes", "-"},
		"a broken mount":      {explaintest.PendingPod("CreateContainerError", `failed to generate container "9f0d" spec: failed to generate spec: failed to stat "/var/lib/kubelet/pods/0f1e/volumes/kubernetes.io~csi/pvc-93ce/mount": stat /var/lib/kubelet/pods/0f1e/volumes/kubernetes.io~csi/pvc-93ce/mount: transport endpoint is not connected`), nil, "its node cannot use the directory of its volume pvc-93ce: transport endpoint is not connected;", "have volume pvc-93ce mounted again on the node", "-"},
		"a volume hides it":   {explaintest.PendingPod("RunContainerError", `failed to create containerd task: exec: "/tools/run": stat /tools/run: no such file or directory: unknown`), nil, "/tools/run does not exist in the container", "find out what should write into volume tools (emptyDir), which is mounted at /tools in container main: it is empty or lacks /tools/run; the volume hides what image train:1 has at /tools", "-"},
		"not executable":      {explaintest.PendingPod("RunContainerError", `failed to create containerd task: exec: "/scripts/run.sh": permission denied: unknown`), nil, "/scripts/run.sh may not be executed (permission denied)", "make /scripts/run.sh executable for the container's user: defaultMode: 0755 for volume scripts (ConfigMap jobs)", "-"},
		"a bad subPath":       {explaintest.PendingPod("CreateContainerConfigError", `failed to prepare subPath for volumeMount "data" of container "main"`), nil, "(CreateContainerConfigError): the subPath of its volume data cannot be used;", "correct subPath for volume data", "-"},
		"a name is reserved":  {explaintest.PendingPod("CreateContainerError", `failed to reserve container name "main_x_ns_0": name "main_x_ns_0" is reserved for "7c54f31e3fc8"`), nil, `: its name is reserved by an earlier attempt`, "wait; if it lasts, restart the container runtime of the node", "-"},
		"no such command":     {explaintest.PendingPod("RunContainerError", `failed to create containerd task: exec: "trian": executable file not found in $PATH: unknown`), nil, "(RunContainerError): command trian was not found in the container;", "remove image train:1 from the node (crictl rmi) and have it pulled again", "-"},
		"a mount fails":       {explaintest.PendingPod("RunContainerError", `failed to create containerd task: error mounting "/data" to rootfs: not a directory: unknown`), nil, "error mounting", "if its pods start on other nodes, see what the container runtime logs", ""},
		"a hook fails":        {explaintest.PendingPod("PostStartHookError", "PostStartHook failed"), nil, "(PostStartHookError): PostStartHook failed;", "fix the postStart hook of container main", ""},
		"an image of root":    {explaintest.PendingPod("CreateContainerConfigError", "container has runAsNonRoot and image will run as root (pod: \"train-x\", container: main)"), nil, "container main cannot be started", "set runAsUser in the securityContext to a number other than 0", "-"},
		"a user with a name":  {explaintest.PendingPod("CreateContainerConfigError", "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root"), nil, "container main cannot be started", "set runAsUser in the securityContext to the number of user app", "-"},
		"a volume is missing": {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.SetUp failed for volume "data" : configmap "none" not found`, time.Minute)}, "the pod cannot start because ConfigMap none in namespace ns does not exist; its volume data needs it", "create ConfigMap none in namespace ns; the pod then starts automatically", "kubectl create configmap none --from-file=FILE -n ns"},
		"a user that is root": {explaintest.PendingPod("CreateContainerConfigError", "container's runAsUser breaks non-root policy (pod: \"train-x\", container: main)"), nil, "container main cannot be started", "set runAsUser of container main, and of each other one that asks for 0, to a number other than 0 (securityContext), or let it run as root", "-"},
		"a volume that hangs": {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.SetUp failed for volume "data" : mount failed: exit status 32: Connection timed out`, time.Minute)}, "its node cannot reach the server of its volume data: “mount failed: exit status 32: Connection timed out”", "check the name of the server", "-"},
		"a damaged volume":    {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.SetUp failed for volume "data" : mount failed: exit status 32: no medium found`, time.Minute)}, "its volume data cannot be mounted: “mount failed: exit status 32: no medium found”", "look for the error in the log of the CSI driver's pod on node node-1", ""},
		"a secret elsewhere":  {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.MountDevice failed for volume "pvc-93ce" : fetching NodeStageSecretRef storage/csi-rbd failed: kubernetes.io/csi: failed to find the secret csi-rbd in the namespace storage with error: secrets "csi-rbd" not found`, time.Minute)}, "because Secret csi-rbd in namespace storage does not exist; its volume pvc-93ce needs it", "create Secret csi-rbd in namespace storage;", "kubectl create secret generic csi-rbd --from-file=FILE -n storage"},
		"an NFS volume":       {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `Unable to attach or mount volumes: unmounted volumes=[nas], unattached volumes=[nas]: timed out waiting for the condition`, time.Minute)}, "its volume nas (NFS nas.lan:/x) was not attached or mounted in time", "check whether node node-1 reaches NFS server nas.lan:/x", ""},
		"a busy volume":       {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Internal desc = rbd image pool/vol is still being used`, 2*time.Minute), explaintest.PodEvent("FailedMount", `MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Aborted desc = an operation with the given Volume ID 0001 already exists`, time.Minute)}, "because its volume pvc-1 is still in use elsewhere", "wait until the pod that uses the volume has ended", "kubectl get volumeattachments"},
		"another zone":        {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms`, time.Minute)}, "its volume pv-1 cannot be used on its node", "have the pod run on a node of the volume", "kubectl describe pv pv-1"},
		"a claim unbound":     {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC ns/train: PVC is not bound`, time.Minute)}, "because its claim train is not bound", "find out why claim train is not bound: its StorageClass, and the provisioner", "kubectl describe pvc train -n ns"},
		"other trouble":       {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedCreatePodSandBox", "no cgroup left", time.Minute)}, "its sandbox cannot be created: “no cgroup left”", "look for the error in the logs of the kubelet", ""},
		"an unknown reason":   {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedPodSetup", "the moon is full.\nLook.", time.Minute)}, "has not started (FailedPodSetup): “the moon is full”", "find out what the pod is waiting for", ""},
		"how the node is":     {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("FailedMount", `secret "none" not found`, 2*time.Minute), explaintest.PodEvent("MissingClusterDNS", "falling back", time.Minute)}, "because Secret none in namespace ns does not exist", "create Secret none in namespace ns;", "kubectl create secret generic none --from-file=FILE -n ns"},
		"only how it is":      {explaintest.PendingPod("", ""), []input.Event{explaintest.PodEvent("DNSConfigForming", "too many", time.Minute)}, "the pod has a node but has not started", "check whether node node-1 is ready and its kubelet runs", "kubectl get node node-1"},
	} {
		f := explaintest.InputOf(explaintest.JobWith(withVolumes), tc.pod)
		f.Events = tc.events
		r := explaintest.Report(f)
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, tc.text) || strings.Contains(r.Problems[0].Text, "DNS") {
			t.Errorf("%s: problems %+v, want %q", name, r.Problems, tc.text)
		}
		command := strings.TrimPrefix(cmp.Or(tc.command, "kubectl describe pod train-x -n ns"), "-")
		if len(r.Advice) != 1 || !strings.HasPrefix(r.Advice[0].Text, tc.advice) || r.Advice[0].Command != command {
			t.Errorf("%s: advice %+v, want %q and %q", name, r.Advice, tc.advice, command)
		}
	}
}

// CLI-06: only refusals of the pod template are a reason to recreate the Job; an outage passes.
func TestRefusedCreationHasAdvice(t *testing.T) {
	for message, advice := range map[string]string{
		`Pod "train-x" is invalid: spec.containers[0].image: Required value`: "recreate the Job with a correct spec.containers[0].image",
		`etcdserver: request timed out`:                                      "check webhooks on pods, which may be slow",
		`admission webhook "v.gatekeeper.sh" denied the request: [limits] container <main> has no cpu limit[labels] you must provide labels: {"app", "team"}`: "recreate the Job with resources.limits.cpu for container main and the labels app and team in the metadata of the pod template, or have the constraint limits changed",
		`admission webhook "v.kyverno.svc" denied the request: Policy signed failed: failed to verify image train:1: no signatures found`:                     "recreate the Job with a version of image train:1 (container main) that is signed with a key that the policy signed trusts",
		`admission webhook "vault.hashicorp.com" denied the request: failed to find service account volume mount`:                                             "recreate the Job with automountServiceAccountToken: true (the pod template has false), as the agent logs in with the token of its ServiceAccount default",
		`admission webhook "w.io" denied the request: pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod must set x)`: "recreate the Job with runAsNonRoot: true in the securityContext",
		`admission webhook "w.io" denied the request: invalid value of acme.io/cpu`:                                                                           "recreate the Job with another value of annotation acme.io/cpu in the pod template, or have the webhook w.io changed",
		`pods "train-x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed expression: object.spec.priority < 1000`:                           "recreate the Job with a spec.priority in the pod template that it allows",
		`pods "train-x" is forbidden: exceeded quota: team, requested: pods=1, used: pods=1, limited: pods=1`:                                                 "wait until other pods of the namespace have ended",
	} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Status.Active, j.Status.Ready, j.Spec.Template.Spec.AutomountServiceAccountToken = 0, ptr.To[int32](0), ptr.To(false)
			j.Spec.Template.Annotations = map[string]string{"acme.io/cpu": "1 core"}
		}))
		f.Events = []input.Event{explaintest.JobEvent("FailedCreate", "Error creating: "+message, 3, time.Minute)}
		if r := explaintest.Report(f); len(r.Advice) != 1 || !strings.HasPrefix(r.Advice[0].Text, advice) {
			t.Errorf("%s: %+v", message, r.Advice)
		}
	}
}

// A field of a pod that the template does not have comes from a webhook: the template is not at fault.
// Requirements: PND-06
func TestInvalidFieldIsComparedWithTheTemplate(t *testing.T) {
	const notSet = "may not be set for init containers without restartPolicy=Always"
	ofTemplate := "recreate the Job with a correct spec."
	for fields, want := range map[string]struct{ text, advice string }{
		"spec.initContainers[1].lifecycle: Forbidden: " + notSet:                            {"the API server rejects field spec.initContainers[1].lifecycle (not in the pod template). May not be set", "find the webhook that adds spec.initContainers[1] to pods"},
		"spec.containers[1].image: Required value":                                          {"rejects field spec.containers[1].image (not in the pod template): Required value", "find the webhook that adds spec.containers[1] to pods"},
		"spec.containers[0].lifecycle: Forbidden: no":                                       {"rejects field spec.containers[0].lifecycle (not in the pod template): no", "find the webhook"},
		`spec.volumes[4].name: Duplicate value: "host"`:                                     {`rejects field spec.volumes[4].name (not in the pod template): Duplicate value: "host"`, "find the webhook that adds spec.volumes[4]"},
		`spec.containers[0].volumeMounts[5].name: Not found: "vault"`:                       {`spec.containers[0].volumeMounts[5].name (not in the pod template): Not found: "vault"`, "find the webhook"},
		`spec.containers[0].volumeMounts[0].name: Not found: "host"`:                        {`the API server rejects the pod template as invalid: spec.containers[0].volumeMounts[0].name: Not found: "host"`, ofTemplate},
		"spec.containers[0].image: Required value":                                          {"the API server rejects the pod template as invalid: spec.containers[0].image: Required value", ofTemplate},
		`spec.restartPolicy: Unsupported value: "always"`:                                   {`rejects the pod template as invalid: spec.restartPolicy: Unsupported value: "always"`, ofTemplate},
		"spec.containers[1].image: Required value, spec.containers[0].name: Required value": {"rejects the pod template as invalid: spec.containers[1].image: Required value", ofTemplate},
	} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			withVolumes(j)
			j.Status.Active, j.Status.Ready = 0, ptr.To[int32](0)
		}))
		f.Events = []input.Event{explaintest.JobEvent("FailedCreate", `Error creating: Pod "train-x" is invalid: [`+fields+"]", 3, time.Minute)}
		if !strings.Contains(fields, ", spec") {
			f.Events[0].Message = `Error creating: Pod "train-x" is invalid: ` + fields
		}
		r := explaintest.Report(f)
		explaintest.WantText(t, r, want.text)
		if len(r.Advice) != 1 || !strings.Contains(r.Advice[0].Text, want.advice) {
			t.Errorf("%s: %+v, want %q", fields, r.Advice, want.advice)
		}
	}
}

// A pod that may use one node only gets no advice to add nodes.
// Requirements: PND-01
func TestPinnedPodNeedsRoomOnItsNode(t *testing.T) {
	pins := map[string]func(*corev1.PodSpec){
		"selector": func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{corev1.LabelHostname: "worker-1"} },
		"affinity": func(s *corev1.PodSpec) {
			one := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"worker-1"}}
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{one}}},
			}}}
		},
	}
	for reason, advice := range map[string]string{
		"Too many pods":                   "wait until pods of node worker-1 end, delete some of them, raise maxPods",
		"Insufficient memory":             "lower what the pod requests of memory (900Gi), free some of it on node worker-1, or recreate the Job without the nodeSelector or affinity",
		"node(s) exceed max volume count": "wait until a volume is detached from node worker-1",
	} {
		for name, pin := range pins {
			job := explaintest.JobOfOne()
			pin(&job.Spec.Template.Spec)
			r := explaintest.Report(explaintest.InputOf(job, explaintest.UnscheduledPod("0/7 nodes are available: 1 "+reason+", 6 node(s) didn't match Pod's node affinity/selector.")))
			if len(r.Advice) == 0 || !strings.HasPrefix(r.Advice[0].Text, advice) || strings.Contains(r.Advice[0].Text, "add") || r.Advice[0].Command != "kubectl describe node worker-1" {
				t.Errorf("%s, %s: %+v, want %q", name, reason, r.Advice, advice)
			}
		}
	}
}

// unstarted returns a pod change: containerd could not start the container, d ago.
func unstarted(message string, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		explaintest.Exits(128, "StartError", d)(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.StartedAt, end.Message = metav1.Unix(0, 0), message
	}
}

// Issue 5, CLI-04: a start time in 1970 means that the container never started.
func TestStartIn1970IsNone(t *testing.T) {
	pod := unstarted("no", time.Minute)
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), explaintest.PodOf("a", pod)))
	explaintest.WantText(t, r, "container main could not be started (StartError)")
	explaintest.WantWithout(t, r, "(StartError) after")
	whole := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	pod(whole)
	whole.Status.ContainerStatuses[0].LastTerminationState = whole.Status.ContainerStatuses[0].State
	for _, c := range explain.PodDetailOf(whole, nil).Containers {
		if c.Now.Started != nil || c.Before.Started != nil || !c.Now.Ended.Equal(whole.Status.ContainerStatuses[0].State.Terminated.FinishedAt.DeepCopy()) {
			t.Errorf("%+v, before %+v", c.Now, c.Before)
		}
	}
}
