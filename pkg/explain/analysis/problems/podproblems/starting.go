package podproblems

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// addMeaning adds the meaning of the message about the first of the pods. Only one message is read, because a huge Job may
// have as many messages as pods.
func addMeaning(in *facts.Facts, p *explain.Problem) {
	defer func() {
		if t := p.Start.Trouble; t != nil {
			t.Pod = whereOf(in, p)
		}
		if t := p.Start.Trouble; t.IsAboutObject() {
			t.Namespace, t.SeenAt = cmp.Or(t.Namespace, in.Job.Namespace), lastSeen(in, p)
		}
	}()
	switch p.Kind {
	case explain.ProblemSchedulingGated:
		addGate(in, p)
	case explain.ProblemUnschedulable:
		addUnfit(in, p)
	case explain.ProblemImagePull:
		addImageTrouble(in, p)
		p.Start.Trouble.NoteImage(p.Image)
		if t, pod := p.Start.Trouble, input.PodNamed(in.Active, p.Pods[0]); t.IsDenied() && pod != nil {
			t.NoPullSecrets = !pod.PullSecrets
		}
		if p.Start.Trouble == nil && in.EventsRead && p.Start.Reason != explain.InvalidImageName {
			p.Start.Trouble = &meaning.Trouble{Kind: meaning.Unexplained}
		}
		p.MayContinue = p.Start.Trouble.MayPass()
	case explain.ProblemPodPending:
		if len(p.Details) > 0 {
			p.Start.Trouble = cmp.Or(p.Start.Trouble, meaning.OfStart(p.Start.Reason, p.Details[0]))
		} else if p.Node != "" {
			addProgress(in, p)
		}
		if p.Start.Trouble != nil && p.Start.Trouble.Volume != "" {
			addVolume(in, p)
		}
	}
}

// addGate adds the reason why Kueue holds the pods, if one of their scheduling gates is its own.
func addGate(in *facts.Facts, p *explain.Problem) {
	if !slices.ContainsFunc(p.Scheduling.Gates, kueue.IsGate) {
		return
	}
	p.Controller = explain.Kueue
	if p.Suspension.Queue, p.Suspension.Hold = facts.HeldByKueue(in); p.Suspension.Hold == nil {
		return
	}
	h := p.Suspension.Hold
	h.HoldPods(in.Workload, p.Count, int32(len(in.Active)))
	p.MayContinue = h.Passes() || h.Requeues()
	if h.Message != "" {
		p.Details = []string{h.Message}
	}
}

// addProgress adds what the kubelet last did for the first of the pods, about which there is no warning.
func addProgress(in *facts.Facts, p *explain.Problem) {
	last := input.LastEvent(in.Events, func(e *input.Event) bool { return e.Pod == p.Pods[0] && e.Source == meaning.ByKubelet })
	switch {
	case last == nil:
		p.Start.IsSilent = in.EventsRead
	case last.Reason == explain.Pulling:
		p.Start.Reason, p.Image, p.Container = explain.Pulling, meaning.PulledImage(last.Message), last.Container
		p.Role.Init = in.IsInit(last.Container)
		p.Since, p.Start.IsLate = explain.TimeOf(last.Last), !last.Last.IsZero() && in.Now.Sub(last.Last) >= pullSlack
	}
}

// whereOf returns what the message about the first of the pods leaves out.
func whereOf(in *facts.Facts, p *explain.Problem) meaning.Where {
	w := facts.WhereOf(in, p.Image)
	if pod := input.PodNamed(in.Active, p.Pods[0]); pod != nil && p.Count == 1 {
		w.Node = pod.Node
	}
	for i := range in.Events {
		e := &in.Events[i]
		lost := meaning.LostSecrets(e.Reason, e.Message)
		switch {
		case e.Pod != p.Pods[0] || p.Image == "":
		case lost != "" && p.Start.Trouble.IsDenied():
			w.Lost = lost
		case e.Reason == "BackOff" && meaning.FailedImage(e.Message) == p.Image:
			w.Reports = max(w.Reports, e.Count)
		}
	}
	return w
}

// stillTried is the maximum age of the last event about a pod that a kubelet still tries to start. It tries every few minutes, and of
// all events about a pod, it reports one in five minutes at least, which may be Pulled instead of the warning.
const stillTried = 15 * time.Minute

// lastSeen returns when the kubelet last failed to start the first of the pods, zero if it still tries, or if that is unknown.
func lastSeen(in *facts.Facts, p *explain.Problem) time.Time {
	var warned, last time.Time
	for i := range in.Events { // In the order of time.
		e := &in.Events[i]
		warns := e.Pod == p.Pods[0] && e.Warning() && e.Reason != "FailedScheduling"
		if warns {
			warned = e.Last
		}
		if warns || e.Pod == p.Pods[0] && e.Source == meaning.ByKubelet {
			last = e.Last
		}
	}
	if in.Now.Sub(last) < stillTried {
		return time.Time{}
	}
	return warned
}

// claimsOf returns the claims of the pod's volumes in the template, with the data that was read.
func claimsOf(in *facts.Facts, pod string) (all []meaning.Claim) {
	for _, name := range input.ClaimNames(&in.Spec.Template.Spec, pod) {
		read := lists.First(in.Claims, func(c *meaning.Claim) bool { return c.Name == name })
		all = append(all, ptr.Deref(read, meaning.Claim{Name: name}))
	}
	return all
}

// addImageTrouble adds the reason why an image is not on the node. Kubelets before 1.31 report it only in an event.
func addImageTrouble(in *facts.Facts, p *explain.Problem) {
	message := ""
	if len(p.Details) > 0 {
		message = p.Details[0]
	}
	if p.Start.Trouble = meaning.OfImage(p.Start.Reason, message); p.Start.Trouble != nil {
		return
	}
	failed := `Failed to pull image "` + p.Image + `"`
	for i := len(in.Events) - 1; i >= 0; i-- { // In the order of time.
		e := &in.Events[i]
		if e.Pod != p.Pods[0] || e.Reason != "Failed" || !strings.HasPrefix(e.Message, failed) {
			continue
		}
		if p.Start.Trouble = meaning.OfImage(p.Start.Reason, e.Message); p.Start.Trouble != nil {
			p.Details = append(p.Details, e.Message)
			return
		}
	}
}

// addVolume adds the volume's data from the template: its claim, or its ConfigMap or Secret if a key is missing, because
// the kubelet names only the volume. A message about a PersistentVolume has no name from the template.
func addVolume(in *facts.Facts, p *explain.Problem) {
	all, t := in.Spec.Template.Spec.Volumes, p.Start.Trouble
	v := lists.First(all, func(v *corev1.Volume) bool { return v.Name == t.Volume })
	if v != nil {
		t.Source = &meaning.Mount{Volume: v.Name}
		facts.NoteSource(t.Source, v)
	}
	switch {
	case v == nil:
		p.Start.Claims = claimsOf(in, p.Pods[0])
	case v.PersistentVolumeClaim != nil:
		others := func(c meaning.Claim) bool { return c.Name != v.PersistentVolumeClaim.ClaimName }
		p.Start.Claims = slices.DeleteFunc(claimsOf(in, p.Pods[0]), others)
	case v.NFS != nil:
		t.NFS = v.NFS.Server + ":" + v.NFS.Path
	case v.CSI != nil:
		t.Class = v.CSI.VolumeAttributes["secretProviderClass"]
	case t.Kind != meaning.KeyMissing:
	case v.ConfigMap != nil:
		t.Name = v.ConfigMap.Name
	case v.Secret != nil:
		t.Name = v.Secret.SecretName
	case v.Projected != nil:
		t.Name = facts.SourceOf(v, t.Object, t.Key)
	}
}
