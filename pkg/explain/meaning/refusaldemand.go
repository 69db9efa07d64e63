package meaning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// demand is what policies and webhooks commonly demand of pods, by the words of their messages.
type demand struct {
	words *lazyregexp.Regexp
	// with and without say how the pod template satisfies it. They are templates with the groups of words as {1}, {2} and so on, all names in
	// them as {names}, and the images and containers that the message is about as {images} and {containers}.
	with, without string
	// advice takes the place of a change of the pod template, which does not help, or does not say enough. {the policy} refuses the pods.
	advice string
}

// needs, forbids and besides return demands that something satisfies, the lack of something, or nothing in the pod template.
func needs(words, with string) demand {
	return demand{words: lazyregexp.New("(?i)" + words), with: with}
}
func forbids(words, without string) demand {
	return demand{words: lazyregexp.New("(?i)" + words), without: without}
}
func besides(words, advice string) demand {
	return demand{words: lazyregexp.New("(?i)" + words), advice: advice + thenRetried}
}

// Parts of patterns: a quotation mark, and a resource with its limit or request.
const (
	quoteMark     = "[\"'`]"
	resourceName  = `(cpu|memory|ephemeral-storage)`
	resourceBound = resourceName + ` (limit|request)s?`
	signedImage   = "a version of {images} that is signed with a key that {the policy} trusts (cosign sign)"
	allResources  = "requests and limits of cpu and memory (resources) for {containers}"
)

// metadata returns the demands of labels or annotations.
func metadata(noun string) []demand {
	const name = `([\w./-]+)`
	return []demand{
		besides(`(?:^|[:\]] )(?:the )?namespace\b[^.;]*(?:must have|lacks?|needs?|missing)[^.;]*\b`+noun, "have the namespace get the "+noun+" that the message names"),
		needs(noun+`s?\b[^.;]*(?:must be one of|only allowed values|\bvalue\b[^.;]*not allowed)`, "a value of the "+noun+" that it allows"),
		needs(`(?:without|missing|lack(?:s|ing)?)(?: the| a| an)?(?: required)? `+noun+`s?:? `+quoteMark+`*([\w./-]+)[^.;]*(?:not allowed|forbidden)`, "the "+noun+"{s} {names} in the metadata of the pod template"),
		forbids(noun+`s?\b[^.;]*(?:not allowed|forbidden|only allowed|must not|not (?:both )?be (?:set|used))`, "the "+noun+"s that the message names"),
		needs(noun+` <([^:>]+): [^>]*> does not satisfy allowed regex: (\S+)`, "another value of "+noun+" {1} ({2}) in the pod template"),
		needs(`provide `+noun+`(?:s|\(s\)): \{([^}]*)\}|/metadata/`+noun+`s/([^\s']+?)/?\.?(?:[\s']|$)|`+
			`\b`+noun+`s?:?[ :]+((?:`+quoteMark+`+[\w./-]+`+quoteMark+`+(?:, and |, | and )?)+)|`+
			`(?:needs?|requires?|missing|lacks?|without)(?: the| a| an)?(?: required)? `+noun+`s?:? `+name+`|`+
			`\b`+noun+`s? ([\w-]*[./]?[\w./-]+) (?:is|are) (?:required|missing)|must have (?:an?|the) (?:valid )?`+quoteMark+`*`+name+quoteMark+`* `+noun+`\b`,
			"the "+noun+"{s} {names} in the metadata of the pod template"),
		needs(`\b`+noun+`s?\b`, "the "+noun+"s in the metadata of the pod template that the message names"),
	}
}

// demands are the known ones. Of a group, only the first that matches counts. The first group has nothing to do with the pod template.
var demands = [][]demand{
	{
		besides(`failed to load (?:context|data)|failed to execute APICall`,
			"have {the policy} repaired, which fails itself, as it or its account lacks what the message names: the pod template is not at fault"),
		besides(`(?:verify|fetch|resolve|pull|get|reach)\b[^;]*\b(?:image|digest|manifest|registry)\b.*(?:i/o timeout|no such host|connection (?:refused|reset)|deadline exceeded|TLS handshake|status code 5\d\d|\bEOF\b)`,
			"let the webhook reach the server that the message names (DNS, egress, proxy), without which it cannot check {images}: the pod template is not at fault"),
		besides(`(?:verify|fetch|resolve|pull|get)\b[^;]*\b(?:image|digest|manifest)\b.*(?:unauthorized|\b40[13]\b)|verify image.*denied`, "give the webhook credentials for the registry of {images}, without which it cannot read there"),
		besides(`error converting YAML to JSON|injection template|template: inject|injected YAML`,
			`correct the template of the webhook for what it adds to pods (of Istio: ConfigMap istio-sidecar-injector, which has to be of the same version), or keep it off these pods (of Istio: label sidecar.istio.io/inject: "false" in the pod template)`),
		besides(`cannot inject into (?:system )?namespaces?`, "have the webhook leave out this namespace (namespaceSelector in its configuration), or create the Job in another one"),
		besides(`\btransient\b|try again later`, "wait, as {the policy} expects this to pass; if it lasts, look at the other pods of the Job, such as one that has failed and is still there, and at the log of the webhook"),
		besides(`podgroup phase is pending`, "wait: Volcano's scheduler lets the PodGroup of the pods in once their queue has room; if it lasts, check whether that scheduler runs"),
		besides(`find service account (?:token )?(?:volume )?mount|no service account (?:token )?(?:volume )?mount`,
			`{recreate} with automountServiceAccountToken: true{no token}, as the agent logs in with the token of {account}; or keep the agent out of the pods (annotation vault.hashicorp.com/agent-inject: "false")`),
		besides(`\b(?:liveness|readiness|startup) ?probes?\b|/(?:liveness|readiness|startup)Probe/|\bprobes? (?:is|are) required`,
			"have {the policy} leave out pods of Jobs, whose programs end by themselves and need no probes; or {recreate} with the probes that it demands"),
		besides(quoteMark+`+default`+quoteMark+`+ namespace|/metadata/namespace/`, "create the Job in a namespace of its own, as {the policy} allows none in this one; or have that changed"),
	},
	{needs(`no vault role`, "annotation vault.hashicorp.com/role in the pod template, the role of Vault for {account}")},
	{
		needs(`resource requests and `, allResources),
		needs(resourceBound+` <?\w+>? is higher than the maximum allowed ratio of <?(\w+)`, "resources.{2}s.{1} of at most {3} times the request for {containers}"),
		needs(resourceBound+` <?\w+>? is higher than the maximum allowed of <?(\w+)`, "resources.{2}s.{1} of at most {3} for {containers}"),
		needs(`(?:\bno|missing) `+resourceBound+`|`+resourceBound+` (?:is|are) required`, "{field} for {containers}"),
		needs(`does not have <\{?([^>}]+)\}?> (limit|request)s defined`, "resources.{2}s of {names} for {containers}"),
		forbids(`may not define cpu limits`, "resources.limits.cpu"),
		needs(`limits? may not exceed (\S+) the requests`, "limits of at most {1} the requests (resources)"),
		needs(`where they are equal|must be equal to resources`, "requests that equal the limits (resources) for {containers}"),
		needs(`requests and limits for ephemeral-storage`, "requests and limits of ephemeral-storage (resources) for {containers}"),
		needs(`\bno resource (?:limit|request)s|\bresource (?:limit|request)s\b|\brequests? (?:and|or) limits?\b|/resources/`, allResources),
	},
	metadata("label"),
	metadata("annotation"),
	{
		needs(`imagePullSecret`, "imagePullSecrets for {images}"),
		needs(`\bonly signed\b|\bmust be signed\b`, signedImage),
		needs(`\bdigests?\b|checksum`, "the digest in the name of {images} (@sha256:…)"),
		needs(`\blatest\b[^"]*\b(?:tags?|images?)\b|\b(?:tags?|images?)\b.*\blatest\b|\bimage tag is required|specify an image tag|disallowed tags?|mutable (?:image )?tag`, "a fixed version as the tag of {images}"),
		needs(`no (?:matching )?signatures?|\bnot signed|unsigned|invalid signature|\battest`, signedImage),
		needs(`vulnerabilit`, "a version of {images} without these vulnerabilities, such as one on a newer base image"),
		needs(`\bbase image|image's base`, "{images} built on a base image that it approves"),
		needs(`built more than`, "a newer build of {images}"),
		needs(`images? .*\bsize\b`, "a smaller image than {images}"),
		needs(`allowed (?:repos|images) are \[([^\]]*)\]|specify one of the following: (.+)$|come from:? ((?:[\w*-]+\.)+[\w*/-]+)`, "a copy of {images} in a registry that it allows ({names})"),
		needs(`\bregistr(?:y|ies)\b|\bimage repos?\b|\brepositor(?:y|ies)\b|\bimage \S+ for container \S+ has not been allowed|allowed sources|\b(?:not|un)[ -]?trusted (?:image|repo|source)`, "a copy of {images} in a registry that it allows"),
	},
	{needs(`allowPrivilegeEscalation|privilege escalation`, "allowPrivilegeEscalation: false for {containers}")},
	{forbids(`\bprivileged (?:containers?|mode|pods?)\b|\bis privileged\b|securityContext[./]privileged`, "privileged: true")},
	{
		needs(`must drop the \W?(\w+)\W? capab`, "capabilities.drop: [{1}] for {containers}"),
		needs(`\bdrop(?:ping)?\b.*\bALL\b|capabilities\b.*\bdrop`, "capabilities.drop: [ALL] for {containers}"),
		forbids(`\bcapabilit`, "the capabilities that the message names"),
	},
	{
		needs(`\bdisallowed (?:user|group|supplementalGroups) .*?\bAllowed (\w+): (.+)$`, "a {1} that it allows ({2})"),
		needs(`\bas (?:the )?non-?root\b|(?:not|never|cannot)\b[^.;]* as (?:the )?root\b|runAsNonRoot|\broot user\b|runAsUser`, "runAsNonRoot: true and a runAsUser other than 0"),
		needs(`\b(runAsGroup|supplementalGroups?|fsGroup)\b`, "another {1} in the securityContext"),
	},
	{needs(`read-?only root|readOnlyRootFilesystem|root filesystem`, "readOnlyRootFilesystem: true for {containers}, and an emptyDir where its program writes")},
	{needs(`seccomp`, "seccompProfile.type: RuntimeDefault")},
	{needs(`apparmor`, "another AppArmor profile (RuntimeDefault)")},
	{forbids(`selinux`, "seLinuxOptions")},
	{forbids(`proc ?mount`, "procMount")},
	{forbids(`sysctl`, "the sysctls that the message names")},
	{needs(`host ?path.*read-?only`, "readOnly: true where it mounts hostPath volumes"), forbids(`host ?path|docker[ .]sock|(?:unix|CRI) socket`, "hostPath volumes")},
	{forbids(`volume types?|types? of volumes`, "volumes of types that it does not allow")},
	{forbids(`host ?(?:network|pid|ipc)\b|host namespaces?`, "hostNetwork, hostPID or hostIPC")},
	{forbids(`host ?ports?\b`, "hostPort")},
	{forbids(`hostProcess`, "windowsOptions.hostProcess")},
	{forbids(`process namespace`, "shareProcessNamespace")},
	{forbids(`(?:probe|lifecycle hook) with host`, "host in its probes and lifecycle hooks")},
	{forbids(`tty or stdin`, "tty and stdin")},
	{needs(`auto-?mount(?:ing|ed)?\b`, "automountServiceAccountToken: false")},
	{needs(`\b(?:default|use|invalid) service ?account|serviceAccountName`, "the serviceAccountName of another account")},
	{needs(`image ?pull ?policy`, "another imagePullPolicy (Always) for {containers}")},
	{forbids(`no secrets? from volumes`, "Secrets in its volumes"), needs(`secrets? .*environment variables?|secrets? (?:must not come )?from env|/secretKeyRef/`, "its Secrets in volumes, not in variables")},
	{needs(`size ?limit`, "a sizeLimit for its emptyDir volumes")},
	{needs(`priority ?class`, "a priorityClassName that it allows")},
	{needs(`runtime ?class`, "a runtimeClassName that it allows")},
	{forbids(`(?:must not|may not|cannot|not allowed to|should not)[^.;]*\btolerations?\b`, "the tolerations that the message names"), needs(`(?:must|have to|require\w*|needs?|missing)[^.;]*\btolerations?\b`, "the toleration that the message names"), forbids(`\btolerations? `, "the tolerations that the message names")},
	{forbids(`\b(node affinity|nodeSelector|nodeName)\b.*(?:prohibited|cannot be used|not allowed)`, "{1}")},
	{needs(`\b(activeDeadlineSeconds|ttlSecondsAfterFinished|backoffLimit)\b`, "{1}")},
}

// fieldPath matches the path of a field in a message: where a rule of Kyverno failed, in an expression of CEL, or before why it is invalid.
var fieldPath = lazyregexp.New(`failed at path /(\S+?)/?\.?'?(?:\s|$)|\bobject\.((?:spec|metadata)(?:\.\w+)+?)(?:\.\w+\(|[^\w.(]|$)|\b(spec\.[\w.\[\]]+): `)

// policies are the words for what refuses pods.
var policies = map[RefusalKind]string{RefusalPolicy: "policy ", RefusalGatekeeper: "constraint ", RefusalKyverno: "policy ", RefusalWebhook: "webhook "}

// demanded returns advice on what a policy or webhook demands, or a change of the pod template that satisfies it, after {recreate}; both
// are "" if its message has no known words.
func (r *Refusal) demanded() (advice, change string) {
	var with, without []string
	for _, group := range demands {
		i := slices.IndexFunc(group, func(d demand) bool { return d.words.MatchString(r.Message) })
		if i < 0 {
			continue
		}
		d, groups := &group[i], group[i].words.FindStringSubmatch(r.Message)
		switch {
		case d.advice != "":
			return r.fillDemand(d.advice, nil), ""
		case d.without != "":
			without = append(without, r.fillDemand(d.without, groups))
		default:
			with = append(with, r.fillDemand(d.with, groups))
		}
	}
	isUnknown := len(with)+len(without) == 0
	for _, key := range r.Template.Annotations {
		if isUnknown && strings.Contains(r.Message, key) {
			with = append(with, "another value of annotation "+key+" in the pod template")
		}
	}
	if path := fieldPath.Group(r.Message); path != "" && len(with)+len(without) == 0 {
		with = append(with, "a "+strings.ReplaceAll(path, "/", ".")+" in the pod template that it allows")
	}
	return "", wording.Join(", and ", prefixed("with ", wording.Enumerate(with, "and")), prefixed("without ", wording.Enumerate(without, "and")))
}

// Demand returns advice on what a policy or webhook demands; "" if that is unknown.
func (r *Refusal) Demand() string {
	advice, change := r.demanded()
	switch {
	case change == "":
		return advice
	case r.Kind == RefusalAutopilot:
		return "{recreate} " + change + ", as Autopilot demands, or run the Job on a GKE Standard cluster"
	}
	return r.fillDemand("{recreate} "+change+", or have {the policy} changed"+thenRetried, nil)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// fillDemand replaces the keys in a template of a demand.
func (r *Refusal) fillDemand(template string, groups []string) string {
	noToken, names := "", []string(nil)
	if r.Template.NoToken {
		noToken = " (the pod template has false)"
	}
	pairs := []string{"{the policy}", "the " + policies[r.Kind] + r.By, "{images}", r.Template.images(r.Message), "{containers}", r.Template.containers(r.Message),
		"{account}", wording.Join(" ", "its ServiceAccount", r.Template.Account), "{no token}", noToken}
	var found []string
	for _, group := range groups[min(len(groups), 1):] {
		if group != "" {
			found = append(found, group)
		}
	}
	for i, group := range found {
		number := fmt.Sprintf("{%d}", i+1)
		pairs = append(pairs, number, group)
		if strings.Contains(template, number) { // It has a place of its own.
			continue
		}
		for _, name := range strings.FieldsFunc(group, func(r rune) bool { return strings.ContainsRune(", \"'`[]{}", r) }) {
			if name = strings.Trim(name, "."); name != "" && name != "and" {
				names = append(names, name)
			}
		}
	}
	if len(found) > 1 {
		pairs = append(pairs, "{field}", strings.ToLower("resources."+found[1]+"s."+found[0]))
	}
	return wording.Insert(template, append(pairs, "{s}", wording.Form(len(names), "", "s"), "{names}", wording.Enumerate(names, "and"))...)
}

// PodTemplate is what advice on a refusal depends on: the ServiceAccount of the pods, whether automountServiceAccountToken is false, the
// containers, and the keys of the annotations.
type PodTemplate struct {
	Account     string
	NoToken     bool
	Containers  []PodPart
	Annotations []string
}

// PodPart is a container of a pod template, with its place there, such as containers/0.
type PodPart struct{ Name, Image, Path string }

// about returns the containers that a message is about, all of them if it names none.
func (t *PodTemplate) about(message string) []PodPart {
	isAbout := func(p PodPart) bool {
		inBrackets := strings.Replace(p.Path, "/", "[", 1) + "]"
		for _, name := range []string{"/" + p.Path + "/", inBrackets, `"` + p.Name + `"`, "<" + p.Name + ">", "container " + p.Name, ": " + p.Name + ","} {
			if strings.Contains(message, name) {
				return true
			}
		}
		return p.Image != "" && strings.Contains(message, p.Image) || strings.HasSuffix(message, ": "+p.Name)
	}
	var found []PodPart
	for _, p := range t.Containers {
		if isAbout(p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return t.Containers
	}
	return found
}

// maxParts is the maximum number of containers that advice on a refusal names.
const maxParts = 3

// images names the images that a message is about.
func (t *PodTemplate) images(message string) string {
	var all []string
	for _, p := range t.about(message) {
		all = append(all, p.Image+" (container "+p.Name+")")
	}
	if len(all) == 0 || len(all) > maxParts {
		return "the image"
	}
	return wording.Form(len(all), "image ", "images ") + wording.Enumerate(all, "and")
}

// containers names the containers that a message is about.
func (t *PodTemplate) containers(message string) string {
	var all []string
	for _, p := range t.about(message) {
		all = append(all, p.Name)
	}
	if len(all) == 0 || len(all) > maxParts {
		return "its containers"
	}
	return wording.Form(len(all), "container ", "containers ") + wording.Enumerate(all, "and")
}
