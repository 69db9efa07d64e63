package words

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// shortDigest is the length of a digest in a sentence.
const shortDigest = 12

// imageText describes an image that is not on the node.
func imageText(p *explain.Problem, _ time.Time) string {
	text, _ := imageTextIn(p, room(stalled))
	return text
}

// imageTextIn leaves out the container if there is no room for it: the image says more. It reports whether it has the container.
func imageTextIn(p *explain.Problem, room int) (text string, named bool) {
	who := containerText(p)
	if p.Start.Reason == explain.InvalidImageName {
		return fmt.Sprintf("the image name of %s is invalid", who), true
	}
	image := p.Image
	if name, digest, long := strings.Cut(image, "@sha256:"); long && len(digest) > shortDigest {
		image = name + "@sha256:" + digest[:shortDigest] + "…"
	}
	why := " cannot be pulled"
	if p.Start.Trouble != nil {
		why = " " + p.Start.Trouble.Text("")
	}
	if whole := wording.Join(" of ", "image "+image, who) + why; utf8.RuneCountInString(whole) <= room {
		return whole, true
	}
	return "image " + image + why, false
}

// containerText names the container of a problem, "" if it is unknown.
func containerText(p *explain.Problem) string {
	switch {
	case p.Container == "":
		return ""
	case p.Role.Init:
		return "init container " + p.Container
	}
	return "container " + p.Container
}

// needsIt names the container that needs the image, "" if it is unknown.
func needsIt(p *explain.Problem) string {
	if p.Container == "" {
		return ""
	}
	return containerText(p) + " needs it"
}

func imageQuote(p *explain.Problem, _ time.Time) quotation {
	switch {
	case p.Start.Reason == explain.InvalidImageName:
		return plainly(p.Image)
	case p.Start.Trouble == nil:
		return quotation{}
	}
	return inQuotes(": ", p.Start.Trouble.Quote())
}

func imageNote(p *explain.Problem, now time.Time) string {
	aside, endless := "", ""
	if _, named := imageTextIn(p, room(stalled)); p.Role.Init && !named {
		if aside = needsIt(p); len(p.Role.Later) > 0 {
			aside += ", before " + ContainersText(p.Role.Later) + wording.Form(len(p.Role.Later), " starts", " start")
		}
	}
	if !p.Start.Trouble.MayPass() {
		endless = endlessNote(p, now)
	}
	return joined([]string{p.Start.Trouble.Note(), endless, aside})
}

// maxVolume is the number of characters of a volume's name above which its claim alone names it.
const maxVolume = 24

// volumeText names the volume, with the candidates for its claim.
func volumeText(p *explain.Problem) string {
	text := wording.Join(" ", "its volume", p.Start.Trouble.Volume)
	switch {
	case p.Start.Trouble.Volume == "":
		text = "one of its volumes"
	case len(p.Start.Claims) == 1 && (strings.HasPrefix(p.Start.Trouble.Volume, "pvc-") || len(p.Start.Trouble.Volume) > maxVolume): // The name is generated, or long.
		return "the volume of its claim " + p.Start.Claims[0].Name
	}
	if p.Start.Trouble.NFS != "" {
		return text + " (NFS " + p.Start.Trouble.NFS + ")"
	}
	var names []string
	for i := range p.Start.Claims {
		names = append(names, p.Start.Claims[i].Name)
	}
	if len(names) > 0 {
		text += " (claim " + wording.Enumerate(names, "or") + ")"
	}
	return text
}

// TroubleAdvice returns advice on the problem's Trouble, or "".
func TroubleAdvice(p *explain.Problem) string {
	if p.Start.Trouble == nil {
		return ""
	}
	return p.Start.Trouble.Advice(volumeText(p))
}

// neverStartedClauses explain why no pod of the Job ever started, by the problem of one of them.
func neverStartedClauses(p *explain.Problem) []string {
	fits := room(decidedTexts[reconcile.OutcomeFailed])
	switch {
	case p.Kind == explain.ProblemCreationRefused:
		return refusedClauses("no pod could be created: ", p.Refusal)
	case p.Kind == explain.ProblemUnschedulable:
		return []string{wording.Join(": ", "its pods never started, as no node could take them", unfitsText(p))}
	case p.Kind == explain.ProblemSidecarNotStarted:
		return probeQuote(p.Run.ProbeMessage).clauses(ContainersText(p.Role.Later)+" never started, as the startup probe of sidecar "+p.Container+" failed", fits)
	case p.Start.Reason == explain.Pulling:
		return []string{"its pods never started, as image " + p.Image + " was still being pulled", needsIt(p)}
	case p.Kind == explain.ProblemImagePull && p.Start.Trouble != nil:
		const before = "its pods never started, as "
		text, named := imageTextIn(p, fits-len(before))
		aside := needsIt(p)
		if named {
			aside = ""
		}
		return append(imageQuote(p, time.Time{}).clauses(before+text, fits), aside, p.Start.Trouble.Note())
	case p.Start.Trouble != nil:
		return append(inQuotes(": ", p.Start.Trouble.Quote()).clauses("its pods never started because "+p.Start.Trouble.Text(volumeText(p)), fits), slowStartNote(p, time.Time{}))
	}
	if p.Start.Error != nil && p.Container != "" {
		return meant(p.Start.Error, "").clauses("its pods never started, as "+containerText(p)+" could not be started", fits)
	}
	return plainly(strings.Join(p.Details, "\n")).clauses("its pods never started ("+p.Start.Reason+")", fits)
}

// NoneStartedText describes pods that never started and no longer exist.
func NoneStartedText(n int32) string {
	pods, their := wording.Form(n, "pod", wording.Count(n, "pods")), wording.Form(n, "its", "their")
	return fmt.Sprintf("the Job's controller deleted the %s before %s main containers started, so they have no logs", pods, their)
}

// slowStartText explains why a pod takes long to start.
func slowStartText(p *explain.Problem, now time.Time) string {
	if t := p.Start.Trouble; t != nil {
		text, named, short := "the pod cannot start because "+t.Text(volumeText(p)), *t, *p
		named.Namespace, named.NFS, short.Start.Trouble = "", "", &named
		if utf8.RuneCountInString(text) > room(stalled) { // The name says more than its namespace, or its server.
			text = "the pod cannot start because " + named.Text(volumeText(&short))
		}
		return text + ago(explain.TimeOf(t.SeenAt), now)
	}
	text := "the pod has a node but has not started"
	switch {
	case p.Start.IsLate:
		return fmt.Sprintf("node %s has been pulling image %s for %s", p.Node, p.Image, wording.Age(now.Sub(p.Since.Time)))
	case p.Start.Reason == explain.Pulling:
		return fmt.Sprintf("image %s is being pulled on node %s", p.Image, p.Node)
	case p.Node == "" && !p.Scheduling.Scheduled:
		return "no scheduler has looked at the pod: is " + schedulerText(p) + " running?"
	case p.Node == "":
		text = "the pod has no node"
	}
	if p.Start.Reason == "" {
		return text
	}
	return text + " (" + p.Start.Reason + ")"
}

// schedulerText names the scheduler of the pod.
func schedulerText(p *explain.Problem) string {
	if p.Asked == corev1.DefaultSchedulerName || p.Asked == "" {
		return "kube-scheduler"
	}
	return "scheduler " + p.Asked + " (schedulerName)"
}

// SlowStartAdvice returns advice on a pod that takes long to start, if no message says why; "" for other problems.
func SlowStartAdvice(p *explain.Problem) string {
	switch {
	case p.Kind != explain.ProblemPodPending:
		return ""
	case p.Start.IsLate:
		return fmt.Sprintf("check how large the image is, how fast node %s downloads it from its registry, and whether the kubelet pulls others before it (serializeImagePulls); if nothing arrives, look at the log of the node's container runtime, a restart of which ends a pull that hangs", p.Node)
	case p.Start.Reason == explain.Pulling:
		return "wait, as large images take minutes; to have it on the nodes before, pull it there with a DaemonSet, or run a smaller image"
	case p.Start.Reason != "":
		return ""
	case p.Start.IsSilent:
		return "check whether node " + p.Node + " is ready and its kubelet runs: no event shows that it has begun to start the pod"
	case p.Node != "":
		return ""
	case !p.Scheduling.Scheduled && p.Asked != corev1.DefaultSchedulerName && p.Asked != "":
		return "start scheduler " + p.Asked + ", or {recreate} without schedulerName, for kube-scheduler"
	case !p.Scheduling.Scheduled:
		return "check whether kube-scheduler is running"
	}
	return ""
}

func slowStartQuote(p *explain.Problem, _ time.Time) quotation {
	switch t := p.Start.Trouble; {
	case t.IsUnbound(): // The kubelet does not know why.
		if c := lists.First(p.Start.Claims, func(c *meaning.Claim) bool { return c.Name == t.Name }); c != nil {
			return inQuotes(": ", c.Warning)
		}
		return quotation{}
	case t != nil:
		return inQuotes(": ", t.Quote())
	case p.Start.Reason == "":
		return quotation{}
	}
	return inQuotes(": ", strings.Join(p.Details, "\n"))
}

// slowStartNote names the volume that needs a missing object, and says that nothing ends the wait for a volume.
func slowStartNote(p *explain.Problem, now time.Time) string {
	t, volume, endless := p.Start.Trouble, "", ""
	if t.IsAboutObject() && t.Volume != "" {
		volume = "its volume " + t.Volume + " needs it"
	}
	if t.IsOfVolume() && !p.MayContinue {
		endless = endlessNote(p, now)
	}
	return Clauses([]string{volume, endless})
}

// unstartableText describes a container that cannot be started, with the message of the kubelet or of the container runtime.
func unstartableText(p *explain.Problem, now time.Time) string {
	text, cause := containerText(p)+" cannot be started", ""
	withReason := text + " (" + p.Start.Reason + ")"
	if p.Start.Trouble != nil {
		cause = ": " + p.Start.Trouble.Text("") + ago(explain.TimeOf(p.Start.Trouble.SeenAt), now)
	}
	if utf8.RuneCountInString(withReason+cause+unstartableQuote(p, now).meaning()) <= room(stalled) {
		text = withReason // The cause is more useful than the reason of the kubelet.
	}
	return text + cause
}

// unstartableNote says that nothing ends the wait, unless the kubelet's next attempt may succeed.
func unstartableNote(p *explain.Problem, now time.Time) string {
	if p.Start.Trouble.MayPass() || p.Start.Error.MayPass() {
		return ""
	}
	return endlessNote(p, now)
}

func unstartableQuote(p *explain.Problem, _ time.Time) quotation {
	switch {
	case p.Start.Trouble != nil || p.Start.Error == nil && len(p.Details) == 0:
		return quotation{}
	case p.Start.Error != nil:
		return meant(p.Start.Error, "")
	}
	return plainly(p.Details[0])
}
