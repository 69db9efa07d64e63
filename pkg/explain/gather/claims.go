package gather

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// maxClaims is the maximum number of claims that are looked up.
const maxClaims = 3

// Claims looks up the claims of a pod if its scheduler reports that one of them is missing or not bound, or the claim that
// the kubelet reports as not bound. If it returns an error, the claims read before it are returned too. The warning about a
// claim is left out if events cannot be read.
func Claims(ctx context.Context, client kube.Interface, job *batchv1.Job, pods []*input.Pod, events []input.Event) (all []meaning.Claim, err error) {
	names := awaitedClaims(job, pods, events)
	for _, name := range names[:min(len(names), maxClaims)] {
		claim, err := client.CoreV1().PersistentVolumeClaims(job.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case kube.IsNotFound(err):
			all = append(all, meaning.Claim{Name: name, Missing: true})
			continue
		case err != nil:
			return all, err
		}
		c := meaning.Claim{Name: name, Phase: string(claim.Status.Phase), StorageClass: ptr.Deref(claim.Spec.StorageClassName, "")}
		if claim.Status.Phase != corev1.ClaimBound {
			c.NoClass = claim.Spec.StorageClassName == nil // kube-controller-manager writes the annotations.
			c.Provisioner = cmp.Or(claim.Annotations["volume.kubernetes.io/storage-provisioner"], claim.Annotations["volume.beta.kubernetes.io/storage-provisioner"])
			c.Warning = warningAboutClaim(ctx, client, claim)
		}
		all = append(all, c)
	}
	return all, nil
}

// awaitedClaims returns the names of the claims that pods wait for. Other pods wait for the same reason.
func awaitedClaims(job *batchv1.Job, pods []*input.Pod, events []input.Event) []string {
	waits := func(u meaning.Unfit) bool {
		return u.Kind == meaning.UnfitClaimUnbound || u.Kind == meaning.UnfitClaimMissing || u.Kind == meaning.UnfitNoVolume
	}
	at := slices.IndexFunc(pods, func(p *input.Pod) bool { return p.Unschedulable != "" && p.Node == "" && p.IsActive() })
	if at >= 0 && slices.ContainsFunc(meaning.UnfitsOf(pods[at].Unschedulable), waits) {
		return input.ClaimNames(&job.Spec.Template.Spec, pods[at].Name)
	}
	for i := range events { // A failure to bind is an event, and no condition.
		pod := input.PodNamed(pods, events[i].Pod)
		if events[i].Reason == "FailedScheduling" && pod != nil && pod.IsActive() && pod.Node == "" && slices.ContainsFunc(meaning.UnfitsOf(events[i].Message), waits) {
			return input.ClaimNames(&job.Spec.Template.Spec, pod.Name)
		}
	}
	for i := range events { // A pod whose template names the node passes by the scheduler.
		t := meaning.OfStart(events[i].Reason, events[i].Message)
		isWaiting := func(p *input.Pod) bool { return p.Name == events[i].Pod && p.IsActive() }
		if t.IsUnbound() && slices.ContainsFunc(pods, isWaiting) {
			return []string{t.Name}
		}
	}
	return nil
}

// warningAboutClaim returns the message of the latest warning about the claim, "" if there is none.
func warningAboutClaim(ctx context.Context, client kube.Interface, claim *corev1.PersistentVolumeClaim) string {
	about := fields.Set{"involvedObject.kind": "PersistentVolumeClaim", "involvedObject.name": claim.Name, "type": corev1.EventTypeWarning}
	var last input.Event
	_, _, err := EachEvent(ctx, client, claim.Namespace, about, func() { last = input.Event{} }, func(event *corev1.Event) {
		if e := input.EventOf(event); last.Message == "" || e.Last.After(last.Last) {
			last = e
		}
	})
	if err != nil {
		return ""
	}
	return last.Message
}
