package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// startCase is a warning about a pod that does not start.
type startCase struct {
	reason, message string
	want            Trouble
}

func (c startCase) check(t *testing.T, name string) {
	t.Helper()
	assert.Equal(t, troubleOf(OfStart(c.reason, c.message)), c.want, name)
}

func volumeCases() map[string]startCase {
	return map[string]startCase{
		"no Secret":        {"FailedMount", `MountVolume.SetUp failed for volume "key" : secret "google-cloud-key" not found`, Trouble{Kind: ObjectMissing, Object: "Secret", Name: "google-cloud-key", Volume: "key"}},
		"no ConfigMap":     {"FailedMount", `MountVolume.SetUp failed for volume "config" : configmap "settings" not found`, Trouble{Kind: ObjectMissing, Object: "ConfigMap", Name: "settings", Volume: "config"}},
		"no claim":         {"FailedMount", `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC ns/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found`, Trouble{Kind: ObjectMissing, Object: "claim", Name: "data", Volume: "data"}},
		"no key":           {"FailedMount", `MountVolume.SetUp failed for volume "tls" : references non-existent secret key: tls.key`, Trouble{Kind: KeyMissing, Object: "Secret", Key: "tls.key", Volume: "tls"}},
		"no config key":    {"FailedMount", `MountVolume.SetUp failed for volume "c" : references non-existent config key: app.yaml`, Trouble{Kind: KeyMissing, Object: "ConfigMap", Key: "app.yaml", Volume: "c"}},
		"no driver":        {"FailedMount", `MountVolume.MountDevice failed for volume "pvc-77" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name efs.csi.aws.com not found in the list of registered CSI drivers`, Trouble{Kind: DriverMissing, Name: "efs.csi.aws.com", Volume: "pvc-77"}},
		"no CSINode":       {"FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-77" : CSINode worker-1 does not contain driver ebs.csi.aws.com`, Trouble{Kind: DriverMissing, Name: "ebs.csi.aws.com", Volume: "pvc-77"}},
		"no attacher":      {"FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-77" : timed out waiting for external-attacher of ebs.csi.aws.com CSI driver to attach volume vol-1`, Trouble{Kind: Attacher, Name: "ebs.csi.aws.com", Volume: "pvc-77"}},
		"attached":         {"FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b" Volume is already used by pod(s) bootstrap-sync`, Trouble{Kind: MultiAttach, Volume: "pvc-0a1b", Detail: "bootstrap-sync"}},
		"attached once":    {"FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b" Volume is already exclusively attached to one node and can't be attached to another`, Trouble{Kind: StillAttached, Volume: "pvc-0a1b"}},
		"a timeout":        {"FailedMount", "Unable to attach or mount volumes: unmounted volumes=[config], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition", Trouble{Kind: MountTimeout, Volume: "config"}},
		"a hostPath":       {"FailedMount", `MountVolume.SetUp failed for volume "host" : hostPath type check failed: /data is not a directory`, Trouble{Kind: HostPath, Volume: "host", Name: "/data", Detail: "directory"}},
		"NFS denies":       {"FailedMount", "MountVolume.SetUp failed for volume \"nfs\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.0.0.1:/x /var/lib/kubelet/pods/1\nOutput: mount.nfs: access denied by server while mounting 10.0.0.1:/x", Trouble{Kind: ExportDenied, Name: "10.0.0.1", Volume: "nfs", Detail: "/x"}},
		"NFS is gone":      {"FailedMount", `MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32: Connection timed out`, Trouble{Kind: StorageUnreachable, Volume: "nfs", Detail: `mount failed: exit status 32: Connection timed out`}},
		"Secret elsewhere": {"FailedMount", `MountVolume.MountDevice failed for volume "pvc-93ce" : fetching NodeStageSecretRef storage/csi-rbd failed: kubernetes.io/csi: failed to find the secret csi-rbd in the namespace storage with error: secrets "csi-rbd" not found`, Trouble{Kind: ObjectMissing, Object: "Secret", Name: "csi-rbd", Namespace: "storage", Volume: "pvc-93ce"}},
		"damaged":          {"FailedMount", `MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32: no medium found`, Trouble{Kind: Volume, Volume: "nfs", Detail: `mount failed: exit status 32: no medium found`}},
		"other reason":     {"Unhealthy", `secret "x" not found`, Trouble{}},
		"no message":       {"FailedMount", "", Trouble{}},
	}
}

// Requirements: PND-04
func TestVolumeThatCannotBeMountedHasAMeaning(t *testing.T) {
	for name, tc := range volumeCases() {
		tc.check(t, name)
	}
}
