package meaning

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Leftover is an object of the API server: its resource with the API group, as in kubectl, and its name. Of an object that a Helm release does
// not own, Holder is the release that owns it, or Adopt the command with which it gets an owner if none does.
type Leftover struct {
	Resource      string `json:"resource"`
	Name          string `json:"name"`
	Adopt, Holder string `json:"-"`
}

// ofOthers matches an object that Helm does not take over, and ownership what that object lacks, or has in another value.
var (
	ofOthers  = lazyregexp.New(`(\w+) \\*"([\w.:-]+)\\*" in namespace \\*"([\w-]*)\\*" exists and cannot be imported`)
	ownership = lazyregexp.New(`key \\*"([\w./-]+)\\*":? must (?:be set to|equal) \\*"([\w.-]+)\\*"(?:: current value is \\*"([^"\\]+))?`)
)

// word returns the object as in kubectl: "secrets/token".
func (o *Leftover) word() string { return o.Resource + "/" + o.Name }

// existing matches the message of the API server about an object that exists, with its quotes escaped or not. Databases have no such
// resources.
const existing = `\b([a-z]+s(?:\.[a-z0-9-]+)* \\*"[a-z0-9.:-]+\\*" already exists)`

var leftover = lazyregexp.New(existing)

// readLeftover sets the object that exists.
func readLeftover(e *KnownError, line string) {
	e.Subject = strings.NewReplacer(`\`, "", ` in namespace ""`, "").Replace(e.Subject) // Objects of the cluster have no namespace.
	if m := leftover.FindStringSubmatch(line); m != nil {
		resource, rest, _ := strings.Cut(m[1], " ")
		name, _, _ := strings.Cut(rest, " ")
		e.Leftover = Leftover{Resource: resource, Name: strings.Trim(name, `\"`)}
	}
	m, labels, annotations := ofOthers.FindStringSubmatch(line), "", ""
	if m == nil {
		return
	}
	e.Leftover = Leftover{Resource: strings.ToLower(m[1]), Name: m[2]}
	for _, key := range ownership.FindAllStringSubmatch(line, -1) {
		if key[1] == "app.kubernetes.io/managed-by" {
			labels += " " + key[1] + "=" + key[2]
			continue
		}
		annotations += " " + key[1] + "=" + key[2]
		if key[1] == "meta.helm.sh/release-name" {
			e.Leftover.Holder = key[3]
		}
	}
	if e.Leftover.Holder != "" {
		e.Subject = fmt.Sprintf("%s \"%s\" exists in release %s", m[1], m[2], e.Leftover.Holder)
		return
	}
	where := m[2] + prefixed(" -n ", m[3])
	e.Leftover.Adopt = wording.Join(" && ", prefixed("kubectl annotate --overwrite "+e.Leftover.Resource+" "+where, annotations), prefixed("kubectl label --overwrite "+e.Leftover.Resource+" "+where, labels))
}

// leftoverAdvice returns advice on an object of the API server that exists before the program creates it.
func leftoverAdvice(e *KnownError, _ Container) string {
	switch o := &e.Leftover; {
	case o.Holder != "":
		return "have only one of two Helm releases create it, as it belongs to release " + o.Holder + "; if that no longer needs it, have this release adopt it"
	case o.Adopt != "":
		return "have this release adopt it, as it belongs to no Helm release, or delete it if nothing needs it, and Helm creates it again"
	}
	return fmt.Sprintf("find out what made %s: its age and labels show whether an earlier run or installation left it; if something uses it, have the program accept that it exists, or use another name; until then, each attempt fails", e.Leftover.word())
}

// DeleteLeftover returns advice to delete the object that is in the way of the program, "" for other errors.
func (e *KnownError) DeleteLeftover() string {
	switch {
	case e == nil || e.Leftover.Name == "" || e.Leftover.Adopt != "" || e.Leftover.Holder != "":
		return ""
	case e.Leftover.Resource == "namespaces" || strings.HasPrefix(e.Leftover.Resource, "persistentvolume"):
		return "if nothing needs it or the data that it has, delete it, so that the program can create it"
	}
	return "if nothing needs it, delete it, so that the program can create it"
}

// refused matches why the API server refuses a request.
var refused = lazyregexp.New(`((?:failed calling (?:admission )?|admission )webhook \\*"[^"\\]+\\*"(?:: | denied).*)| is forbidden: (.+)`)

// readRefused sets the reason of a refusal.
func readRefused(e *KnownError, line string) {
	e.Subject = denial.ReplaceAllString(balanced.FindString(strings.ReplaceAll(e.Subject, `\`, "")), "webhook $1: ")
	e.Reason = balanced.FindString(strings.ReplaceAll(refused.Group(line), `\`, ""))
	if e.Kind == ErrorWebhook {
		e.Subject = strings.TrimRight(strings.Replace(e.Subject, ":", ": ", 1), `"`)
	}
}

var (
	// denial matches the beginning of the denial of a webhook, and balanced a text up to the end of the brackets that it began in.
	denial   = lazyregexp.New(`admission webhook "([^"]+)" denied the request: `)
	balanced = lazyregexp.New(`^(?:[^\[\]]|\[[^\]]*\]?)*`)
	// unready matches what a webhook says about an object that is not as the request needs it.
	unready = lazyregexp.New(`(?i)\b(?:not (?:available|ready|healthy)|unavailable)\b`)
)

// WebhookHost returns the server of the webhook that the API server cannot call, "" for other errors.
func (e *KnownError) WebhookHost() string {
	if e.Kind != ErrorWebhook {
		return ""
	}
	return hostIn(e.Reason)
}

// noConstraint begins the refusal of OpenShift.
const noConstraint = "unable to validate against any security context constraint"

// Refusal returns the meaning of the refusal of the API server, nil for other errors.
func (e *KnownError) Refusal() *Refusal {
	if e == nil || e.Reason == "" {
		return nil
	}
	reason := e.Reason
	if at := strings.Index(reason, noConstraint); at > 0 { // Other words are before it in the refusal of an exec.
		reason = reason[at:]
	}
	return OfRefusal(reason)
}

// IsOfPolicy reports whether the API server refuses the request, and an object that is not ready yet is no reason for that.
func (e *KnownError) IsOfPolicy() bool {
	return e.Reason != "" && (e.Kind == ErrorWebhook || !e.IsElsewhere())
}

// refusedAdvice returns advice on an object of the program that the API server refuses: that of the Job's own pods is for their template.
func refusedAdvice(e *KnownError, c Container) string {
	r, account := e.Refusal(), c.account()
	if strings.Contains(e.Reason, "set finalizers on") {
		return fmt.Sprintf("allow ServiceAccount %s to update the subresource finalizers of the owner that it sets in the object (verb update on RESOURCE/finalizers)", account)
	}
	if strings.Contains(e.Reason, "Address is not allowed") {
		return "run the pods of the webhook with hostNetwork: true (by a value of its chart): the control plane of EKS cannot reach the addresses that another CNI plugin than its own (Calico, Cilium, Weave) gives to pods"
	}
	if r == nil {
		return "find what refuses the request of the program: a permission of its ServiceAccount, a quota, or a policy"
	}
	switch {
	case r.Webhook != nil:
		return strings.TrimSuffix(r.Webhook.Advice(""), thenRetried)
	case r.Kind == RefusalWebhook && unready.MatchString(r.Message):
		return fmt.Sprintf("have ready what webhook %s asks for before this Job: %s", r.By, wording.Quoted(wording.Shorten(r.Message, maxDetail)))
	case r.Kind == RefusalSCC:
		return programConstraint(r.constraint(), account, c.Namespace)
	}
	text := cmp.Or(programRefusals[r.Kind], "have container {container} ask for what the API server accepts, or change the policy that refuses it: {why}")
	return wording.Insert(text, "{account}", account, "{container}", c.Name, "{by}", r.By, "{lacks}", wording.Enumerate(r.Lacks, "and"), "{settings}", r.settings("its containers"), "{why}", wording.Quoted(wording.Shorten(cmp.Or(r.Message, e.Subject), maxDetail)))
}

// programRefusals say what to do about an object of the program that the API server refuses.
var programRefusals = map[RefusalKind]string{
	RefusalWebhookDown:    "check whether the Service of the webhook has ready pods, and whether the API server can reach them",
	RefusalServiceAccount: "create ServiceAccount {by} with the rights that its pod needs, or have container {container} name another account for the pod that it creates",
	RefusalPSP:            "let ServiceAccount {account}, with which the program creates the pod, use a PodSecurityPolicy that allows it (verb use, by a Role)",
	RefusalPodSecurity:    "have container {container} create the pod {settings}; or have label pod-security.kubernetes.io/enforce of its namespace name a less strict level",
	RefusalQuota:          "have container {container} create it with smaller requests, free what others use of the quota, or have it raised",
	RefusalQuotaNeeds:     "have container {container} create it with {lacks}, which the quota demands, or add a LimitRange with defaults to its namespace",
}

// programConstraint returns advice on a pod that the program may not create: the ServiceAccount default should not get more rights.
func programConstraint(constraint, account, namespace string) string {
	if account == "default" {
		return fmt.Sprintf("run the Job with the serviceAccountName of an account that may use security context constraint (SCC) %s, which that pod needs (oc adm policy who-can use scc %s): the program asks for it as ServiceAccount default, which all pods have that name none", constraint, constraint)
	}
	return fmt.Sprintf("let ServiceAccount %s, as which the program asks, use security context constraint (SCC) %s, which that pod needs (oc adm policy add-scc-to-user %s -z %s -n %s)", account, constraint, constraint, account, namespace)
}

// PodOf returns the pod of a StatefulSet that a host names by its Service, and its namespace, "" for that of the Job; both are "" for
// other hosts.
func PodOf(host string) (pod, namespace string) {
	service, namespace := ServiceOf(host)
	pod, rest, _ := strings.Cut(host, ".")
	set := podOfSet.Group(pod)
	if service == "" || set == "" || !strings.HasPrefix(rest, service) {
		return "", ""
	}
	if isSet := strings.HasPrefix(set, service) || strings.HasPrefix(service, set); !isSet && !ofService.MatchString(host) {
		return "", ""
	}
	return pod, namespace
}

// podAdvice returns advice on a host that is a pod of a StatefulSet, "" for other hosts; until says what the program needs of it.
func podAdvice(host, until string) string {
	pod, _ := PodOf(host)
	if pod == "" {
		return ""
	}
	return fmt.Sprintf("look at pod %s, which host %s means: %s{?; the next attempt of this Job then succeeds without a change}", pod, host, until)
}

// isPod reports whether the subject is a pod of a StatefulSet.
func (e *KnownError) isPod() bool {
	pod, _ := PodOf(e.Subject)
	return pod != ""
}

var (
	// noMatch matches what clients say about a kind in a version that the API server does not serve, and removed the kinds in versions that
	// Kubernetes has removed: of 1.16, 1.22, and 1.25 to 1.27.
	noMatch = lazyregexp.New(`no matches for kind \\?"([^"\\]+)\\?" in version \\?"(([^"\\/]+)/?[^"\\]*)`)
	removed = lazyregexp.New(`^(?:\S+ (?:extensions/v1beta1|apps/v1beta[12]|(?:rbac\.authorization|apiextensions|apiregistration|scheduling)\.k8s\.io/v1beta1|autoscaling/v2beta[12])|Ingress(?:Class)? networking\.k8s\.io/v1beta1|\w+WebhookConfiguration \S+/v1beta1|(?:StorageClass|CSI\w+|VolumeAttachment) storage\.k8s\.io/v1beta1|CertificateSigningRequest certificates\.k8s\.io/v1beta1|Lease coordination\.k8s\.io/v1beta1|CronJob batch/v1beta1|Pod\w+ policy/v1beta1|(?:EndpointSlice|Event|RuntimeClass) (?:discovery|events|node)\.k8s\.io/v1beta1)$`)
)

// unservedKind is the clue of a kind that the API server does not serve: one that Kubernetes removed, or that a definition brings.
func unservedKind(q *Clue, c *Container) Remedy {
	m := noMatch.FindStringSubmatch(q.Words)
	if m == nil {
		return Remedy{}
	}
	instead := m[1] + " in " + cmp.Or(map[string]string{"extensions": "networking.k8s.io/v1 or apps/v1", "autoscaling": "autoscaling/v2"}[m[3]], m[3]+"/v1")
	if m[1] == "PodSecurityPolicy" {
		instead = "no PodSecurityPolicy (Pod Security Admission has replaced it)"
	}
	switch {
	case !removed.MatchString(m[1] + " " + m[2]):
		return Remedy{Text: fmt.Sprintf("have the program use a version of %[1]s that the cluster serves (kubectl api-resources) in place of %[2]s; if it serves none, install what defines %[1]s (its CustomResourceDefinition) before this Job", m[1], m[2])}
	case strings.Contains(strings.Join(q.Log, "\n"), "release manifest contains removed"):
		return Remedy{Text: fmt.Sprintf("correct the manifest that Helm stored of the release with its plugin mapkubeapis (helm mapkubeapis %s -n %s), and use a chart that has %s: Kubernetes has removed %s", valueOr(c, "NAME", "RELEASE"), valueOr(c, "TARGET_NAMESPACE", "NAMESPACE"), instead, m[2]), Elsewhere: true}
	}
	return Remedy{Text: fmt.Sprintf("use a version of the program, its chart or its manifests that has %s: Kubernetes has removed %s; container %s has image %s", instead, m[2], c.Name, c.Image)}
}
