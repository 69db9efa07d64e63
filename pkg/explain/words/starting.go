package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// troubleWords describe a trouble that keeps a pod from starting, or from being created.
type troubleWords struct {
	// brief is for a column.
	brief string
	// text is a clause; %s is the name in the message or the webhook's Service, %v the volume.
	text   string
	advice string
}

// imageTroubles are the reasons why an image is not on the node; the text follows its name.
var imageTroubles = map[explain.TroubleKind]troubleWords{
	explain.TroubleRateLimit:      {"rate limit", "cannot be pulled: the registry's rate limit is exceeded", "pull the image with an account (imagePullSecrets), which has a higher limit, or from a mirror of the registry; the kubelet retries automatically"},
	explain.TroubleUnauthorized:   {"access denied", "cannot be pulled: the registry denied access (credentials are missing or wrong, or the repository does not exist)", "give the pods credentials for the registry (imagePullSecrets of the pod template, or of its service account), and check the image's name"},
	explain.TroubleImageNotFound:  {"image not found", "cannot be pulled: the registry does not have it", "push this image, and the Job goes on; or run another image with kubectl batchjob retry --replace --image"},
	explain.TroubleNoPlatform:     {"no image for the platform", "cannot be pulled: it does not exist for the platform (operating system and architecture) of the node", "build the image for the platform of the nodes, too, or have the pods run on nodes of its platform (nodeSelector kubernetes.io/arch)"},
	explain.TroubleNotOnNode:      {"not on the node", "is not present on the node, and imagePullPolicy is Never", "load the image onto the node, or recreate the Job with imagePullPolicy IfNotPresent"},
	explain.TroubleUnreachable:    {"registry unreachable", "cannot be pulled: its registry cannot be reached", "check the name of the registry, and DNS, proxy and firewall of the node; the kubelet retries automatically"},
	explain.TroubleRegistryTLS:    {"TLS of the registry", "cannot be pulled: the TLS connection to its registry failed", "have the container runtime of the nodes trust the certificate of the registry, or correct the certificate"},
	explain.TroubleRegistryFails:  {"registry error", "cannot be pulled: its registry answers with an error", "check the registry; the kubelet retries automatically"},
	explain.TroubleSignature:      {"signature", "cannot be pulled: its signature is not accepted", "sign the image, or correct the signature policy of the nodes"},
	explain.TroubleNoDiskSpace:    {"no disk space", "cannot be pulled: the node has no disk space left for it", "free disk space on the node, or have the pod run on another one"},
	explain.TroublePullsThrottled: {"pulls throttled", "is not pulled yet, because the kubelet limits how often it pulls (registryPullQPS)", "wait: the kubelet retries automatically"},
}

// startTroubles are the reasons why a pod that has a node does not start; the text follows "the pod cannot start because".
var startTroubles = map[explain.TroubleKind]troubleWords{
	explain.TroubleAttacher:        {"attacher", "CSI driver %s did not attach %v in time", "check whether the controller of the CSI driver is running; the attachment is retried automatically"},
	explain.TroubleMountTimeout:    {"mount timed out", "%v was not attached or mounted in time", "find out what %v waits for"},
	explain.TroubleHostPath:        {"hostPath", "%v is not what its hostPath type demands", "create the path on the node, or recreate the Job with another hostPath type"},
	explain.TroubleMountDenied:     {"mount denied", "mounting %v was denied", "grant the node or the driver access to the volume; mounting is retried automatically"},
	explain.TroubleVolume:          {"volume", "%v cannot be attached or mounted", "resolve what the message names; mounting is retried automatically"},
	explain.TroubleNetworkNotReady: {"network not ready", "the network plugin of its node is not ready", "check the pods of the network plugin on the node"},
	explain.TroubleSandboxImage:    {"sandbox image", "the sandbox image %s cannot be pulled on its node", "make the sandbox image available to the node: its container runtime's configuration names it"},
	explain.TroubleSandbox:         {"sandbox", "its sandbox cannot be created", "resolve what the message names on the node; the kubelet retries automatically"},
	explain.TroubleNoRuntime:       {"runtime handler", "the container runtime of its node does not have the runtime handler %s (runtimeClassName)", "have the pods run on nodes that have the runtime handler, or recreate the Job with another runtimeClassName"},
	explain.TroubleDriverMissing:   {"CSI driver not registered", "CSI driver %s, which %v needs, is not registered on its node", "check that the node pod of the CSI driver runs on that node (its DaemonSet); mounting is retried automatically"},
	explain.TroubleNoAddress:       {"no IP address", "", "free IP addresses, or give the network plugin a larger range; the kubelet retries automatically"},
	explain.TroubleNetworkPlugin:   {"network plugin", "", "check the pods of the network plugin on the node"},
	explain.TroubleMultiAttach:     {"volume in use", "", "delete the pod that uses the volume, or wait until it ends; for pods on several nodes, use a volume with access mode ReadWriteMany"},
	explain.TroubleObjectMissing:   {"", "", ""},
	explain.TroubleKeyMissing:      {"", "", ""},
}

// webhookTroubles are the reasons why a webhook cannot be called; the text follows its name.
var webhookTroubles = map[explain.TroubleKind]troubleWords{
	explain.TroubleNoEndpoints: {"", "cannot be called: %s has no endpoints", "start the pods of %s, which serve the webhook, or remove the webhook if nothing should serve it; the controller then retries automatically"},
	explain.TroubleNoService:   {"", "cannot be called: %s does not exist", "create %s, or remove the webhook if nothing should serve it; the controller then retries automatically"},
	explain.TroubleRefused:     {"", "cannot be called: %s refuses connections, as if none of its pods is ready", "check that the pods of %s, which serve the webhook, are running; the controller then retries automatically"},
	explain.TroubleCertificate: {"", "cannot be called: the certificate of %s is not accepted", "correct the certificate of %s, or the caBundle of the webhook configuration; the controller then retries automatically"},
	explain.TroubleNoHost:      {"", "cannot be called: the name of %s has no address", "correct the URL of the webhook configuration, or the DNS of the API server; the controller then retries automatically"},
	explain.TroubleNoAnswer:    {"", "does not answer in time", "check the pods of %s, which serve the webhook, and the network between them and the API server; the controller then retries automatically"},
}

// imageText describes an image that is not on the node.
func imageText(p *explain.Problem, _ time.Time) string {
	if p.Reason == explain.InvalidImageName {
		return fmt.Sprintf("the image name %s of container %s is invalid", p.Image, p.Container)
	}
	text := Joined(" of container ", "image "+p.Image, p.Container) + " "
	if p.Trouble == nil {
		return text + "cannot be pulled"
	}
	return Joined(": ", text+imageTroubles[p.Trouble.Kind].text, quotedIfAny(p.Trouble.Said))
}

func quotedIfAny(text string) string {
	if text == "" {
		return ""
	}
	return Quoted(text)
}

// startCause returns the reason why a pod with a node cannot start, by the Trouble of the problem.
func startCause(p *explain.Problem) string {
	t := p.Trouble
	said := quotedIfAny(t.Said)
	text := strings.NewReplacer("%s", t.Name, "%v", volumeText(p)).Replace(startTroubles[t.Kind].text)
	switch t.Kind {
	case explain.TroubleMultiAttach:
		text, said = fmt.Sprintf("%s is already %s", volumeText(p), shorten(t.Said, maxQuoted)), ""
	case explain.TroubleObjectMissing:
		text = objectText(t) + neededBy(t) + " does not exist"
	case explain.TroubleKeyMissing:
		text = objectText(t) + neededBy(t) + " has no key " + t.Key
	case explain.TroubleNoAddress:
		text = networkText(t) + " has no IP address left for it"
	case explain.TroubleNetworkPlugin:
		text = networkText(t) + " failed"
	}
	return Joined(": ", text, said)
}

// volumeText names the volume, with the candidates for its claim.
func volumeText(p *explain.Problem) string {
	text := Joined(" ", "its volume", p.Trouble.Volume)
	if p.Trouble.Volume == "" {
		text = "one of its volumes"
	}
	var names []string
	for i := range p.Claims {
		names = append(names, p.Claims[i].Name)
	}
	return text + inBrackets(claimName(Enumerate(names, "or")))
}

// objectText names the object of a volume.
func objectText(t *explain.Trouble) string {
	if t.Name == "" {
		return fmt.Sprintf("the %s of its volume %s", t.Object, t.Volume)
	}
	return t.Object + " " + t.Name
}

// neededBy returns a clause on the volume that needs the object, "" if the object or the volume has no name.
func neededBy(t *explain.Trouble) string {
	if t.Name == "" || t.Volume == "" {
		return ""
	}
	return fmt.Sprintf(", which its volume %s needs,", t.Volume)
}

func networkText(t *explain.Trouble) string {
	if t.Name == "" {
		return "the network of its node"
	}
	return "network plugin " + t.Name
}

// troubleReason returns the trouble in a few words for a column, or "".
func troubleReason(p *explain.Problem) string {
	switch t := p.Trouble; {
	case t == nil:
		return ""
	case t.Kind == explain.TroubleObjectMissing:
		return fmt.Sprintf("no %s %s", t.Object, t.Name)
	case t.Kind == explain.TroubleKeyMissing:
		return Joined(" ", "no key", t.Key, "in", t.Object, t.Name)
	case p.Kind == explain.ProblemImagePull:
		return imageTroubles[t.Kind].brief
	default:
		return startTroubles[t.Kind].brief
	}
}

// TroubleAdvice returns advice on the problem's Trouble, or "".
func TroubleAdvice(p *explain.Problem) string {
	t := p.Trouble
	if t == nil {
		return ""
	}
	switch {
	case p.Kind == explain.ProblemCreationRefused:
		return strings.ReplaceAll(webhookTroubles[t.Kind].advice, "%s", serviceText(t))
	case p.Kind == explain.ProblemImagePull:
		return imageTroubles[t.Kind].advice
	case t.Kind == explain.TroubleObjectMissing:
		return fmt.Sprintf("create %s %s; the pod then starts automatically", t.Object, t.Name)
	case t.Kind == explain.TroubleKeyMissing:
		return fmt.Sprintf("add key %s to %s; the pod then starts automatically", t.Key, objectText(t))
	}
	return strings.ReplaceAll(startTroubles[t.Kind].advice, "%v", volumeText(p))
}

// serviceText names the Service of a webhook.
func serviceText(t *explain.Trouble) string {
	if t.Name == "" {
		return "its server"
	}
	return "its Service " + t.Name
}

// webhookText explains why the named webhook cannot be called.
func webhookText(name string, t *explain.Trouble) string {
	said := t.Said
	if t.Kind == explain.TroubleNoAnswer {
		said = "" // It only says that the API server timed out.
	}
	text := strings.ReplaceAll(webhookTroubles[t.Kind].text, "%s", serviceText(t))
	if t.Kind == explain.TroubleNoAnswer && t.Name != "" {
		text += inBrackets("Service " + t.Name)
	}
	return Joined(": ", Joined(" ", name, text), quotedIfAny(said))
}

// QuotaNeedsAdvice returns advice on a quota that demands requests or limits that the pods lack.
func QuotaNeedsAdvice(quota string, lacks []string) string {
	if len(lacks) == 0 {
		return "recreate the Job with the requests and limits that the quota demands"
	}
	return fmt.Sprintf("recreate the Job with %s for its containers, which ResourceQuota %s demands, or have a LimitRange of the namespace set defaults", Enumerate(lacks, "and"), quota)
}

// NeverStartedText explains why no pod of the Job ever started, by the problem of one of them.
func NeverStartedText(p *explain.Problem) string {
	switch {
	case p.Kind == explain.ProblemUnschedulable:
		return Joined(": ", "its pods never started, as no node could take them", unfitsText(p.Unfit, p.Claims))
	case p.Kind == explain.ProblemImagePull && p.Trouble != nil:
		return "its pods never started, as " + imageText(p, time.Time{})
	case p.Trouble != nil:
		return "its pods never started because " + startCause(p)
	}
	return Joined(": ", "its pods never started ("+p.Reason+")", shorten(strings.Join(p.Details, "\n"), maxUnquoted))
}

// DeadlinePassed returns a clause on a Job whose pods never started; the deadline may be unset now.
func DeadlinePassed(deadline *int64) string {
	if deadline == nil {
		return "meanwhile, its activeDeadlineSeconds passed"
	}
	return fmt.Sprintf("meanwhile, its activeDeadlineSeconds (%s) passed", Seconds(*deadline))
}

// NoneStartedText describes pods that never started and no longer exist.
func NoneStartedText(n int32) string {
	if n == 1 {
		return "the Job's controller deleted the pod, which never started, so it has no log"
	}
	return fmt.Sprintf("the Job's controller deleted the %s, which never started, so they have no logs", Count(n, "pods"))
}
