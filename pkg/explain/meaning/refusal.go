package meaning

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Refusal is the reason why the API server does not create a pod, or a Job of a CronJob.
type Refusal struct {
	Kind RefusalKind `json:"kind"`
	// By is the name of the quota, webhook, policy, constraint, or Pod Security level that refuses the object, of the class or
	// ServiceAccount that does not exist, or of the namespace that is being deleted; "" if the message has none.
	By string `json:"by,omitempty"`
	// Namespace is the namespace of the ServiceAccount that does not exist.
	Namespace string `json:"namespace,omitempty"`
	// Message is the rest of the API server's message, on one line.
	Message string `json:"message,omitempty"`
	// Lacks are the requests and limits that a quota demands, such as limits.memory.
	Lacks []string `json:"lacks,omitempty"`
	// Fields are the fields of the pod template that OpenShift does not allow, such as runAsUser.
	Fields []string `json:"fields,omitempty"`
	// Account is the ServiceAccount of the pods, if the refusal depends on its rights; "" if it is unknown.
	Account string `json:"account,omitempty"`
	// Injected are the containers, or the fields of an invalid pod, that the refusal is about if none of them is in the pod template.
	Injected []string `json:"injected,omitempty"`
	// Webhook is the reason why a webhook cannot be called; nil if it is unknown.
	Webhook *Trouble `json:"webhook,omitempty"`
	// Template is the template of the refused pods, as far as it is known.
	Template PodTemplate `json:"-"`
}

// WaitsForLeader reports whether the webhook of JobSet refuses a pod until the leader of its Job, the first pod, has a node: a
// consequence of what keeps the leader from being scheduled.
func (r *Refusal) WaitsForLeader() bool {
	return r != nil && r.Kind == RefusalWebhook && strings.Contains(r.Message, "follower pod")
}

// RefusalKind is the kind of component that refuses an object.
type RefusalKind string

// The kinds.
const (
	RefusalQuota          RefusalKind = "Quota"
	RefusalQuotaNeeds     RefusalKind = "QuotaNeedsResources" // requests or limits that the quota demands
	RefusalPodSecurity    RefusalKind = "PodSecurity"
	RefusalSCC            RefusalKind = "SecurityContextConstraints" // of OpenShift
	RefusalPSP            RefusalKind = "PodSecurityPolicy"          // of Kubernetes before 1.25
	RefusalAutopilot      RefusalKind = "Autopilot"                  // of GKE
	RefusalLimitRange     RefusalKind = "LimitRange"
	RefusalServiceAccount RefusalKind = "ServiceAccount" // it does not exist
	RefusalClass          RefusalKind = "Class"          // a PriorityClass or RuntimeClass does not exist
	RefusalNamespace      RefusalKind = "Namespace"      // it is being deleted
	RefusalPolicy         RefusalKind = "AdmissionPolicy"
	RefusalGatekeeper     RefusalKind = "Gatekeeper"
	RefusalKyverno        RefusalKind = "Kyverno"
	RefusalWebhook        RefusalKind = "AdmissionWebhook"
	RefusalWebhookDown    RefusalKind = "AdmissionWebhookDown" // it cannot be called
	RefusalEtcdFull       RefusalKind = "EtcdFull"
	RefusalUnavailable    RefusalKind = "Unavailable"   // the API server or etcd does not answer in time
	RefusalUnknownOwner   RefusalKind = "UnknownOwner"  // an admission plugin does not know the kind of the owner
	RefusalConflict       RefusalKind = "Conflict"      // others change the quota at the same time
	RefusalPriorityScope  RefusalKind = "PriorityScope" // its priority class needs a quota
	RefusalNodeSelector   RefusalKind = "NodeSelector"  // it contradicts that of the namespace
	RefusalForbidden      RefusalKind = "Forbidden"
	RefusalInvalid        RefusalKind = "Invalid"
	RefusalOther          RefusalKind = "Other"
)

const (
	correctTemplate   = "read the message, and {recreate} with a corrected pod template (it is immutable)"
	thenRetried       = "{?; the controller then retries automatically}"
	resolveIt         = "if the pod template is at fault, {recreate} with a corrected one; otherwise the controller creates the pods once nothing refuses them"
	limitRangeCommand = "kubectl describe limitrange -n {namespace}"
)

// WebhookCommand lists the webhooks of the cluster.
const WebhookCommand = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"

// refusals are the messages of admission plugins, as of Kubernetes 1.36, and of common webhooks. They are matched at the
// beginning only, as a webhook or a policy may write anything.
var refusals = slices.Concat(securityRefusals, []row[RefusalKind]{
	{
		kind:     RefusalQuota,
		patterns: re(`^exceeded quota: (?P<name>[^\s,]+)(?:, )?(?P<detail>.*)`),
		complete: true, whole: true, brief: "quota {name} exhausted",
		text:    "ResourceQuota {name} is exhausted",
		advice:  "wait until other pods of the namespace have ended{?, as the controller tries again}, {recreate} with smaller requests, or have the quota raised",
		command: "kubectl describe resourcequota -n {namespace}",
	},
	{
		kind:     RefusalQuotaNeeds,
		patterns: re(`^failed quota: (?P<name>[^\s:]+): (?P<detail>must specify .*)`),
		complete: true, brief: "quota {name} needs more",
		text:    "ResourceQuota {name} demands {few}",
		advice:  "{recreate} with {lacks} for its containers, which ResourceQuota {name} demands, or have a LimitRange of the namespace set defaults",
		command: "kubectl describe resourcequota -n {namespace}",
	},
	{
		kind:     RefusalLimitRange,
		patterns: re(`^(?P<detail>\[?(?:(?:maximum|minimum) \S+ usage per |\S+ max limit to request ratio per ).*)`),
		whole:    true, ofTemplate: true, brief: "LimitRange",
		text:    "a LimitRange does not allow the pod template",
		advice:  "{recreate} with requests and limits that the LimitRange allows ({bounds}), or have the LimitRange changed",
		command: limitRangeCommand,
	},
	{
		kind:     RefusalServiceAccount,
		patterns: re(`^error looking up service account (?:(?P<namespace>[^/ ]+)/)?\S+: serviceaccounts? "(?P<name>[-.a-z0-9]+)" (?P<detail>not found.*)`, `^admission webhook "[^"]+" denied the request: serviceaccounts? "(?P<name>[-.a-z0-9]+)" (?P<detail>not found)`),
		complete: true, brief: "no ServiceAccount {name}",
		text:    "ServiceAccount {name}{in namespace} does not exist",
		advice:  "create ServiceAccount {name}, and give it the roles that the program needs, as a new one has none; or {recreate} with another serviceAccountName, or in the namespace that has this account" + thenRetried,
		command: "kubectl create serviceaccount {name} -n {namespace}",
	},
	{
		kind:     RefusalClass,
		patterns: re(`^(?:no |pod rejected: )(?P<detail>[A-Z]\w+Class) (?:with name )?"?(?P<name>[^"\s]+)"? (?:was|not) found`),
		complete: true, brief: "no {detail} {name}",
		text:    "{detail} {name} does not exist",
		advice:  "create {detail} {name}, or {recreate} with another one, or none, in the pod template" + thenRetried,
		command: "kubectl get {classes}",
	},
	{
		kind:     RefusalPriorityScope,
		patterns: re(`^insufficient quota to match these scopes: \[?\{?(?P<detail>PriorityClass[^}\]]*(?:\])?)`, `^pods with (?P<detail>\S+) priorityClass is not permitted in \S+ namespace`),
		complete: true, brief: "priority without a quota",
		text:    "the namespace does not allow their priority class ({detail})",
		advice:  "{recreate} with another priorityClassName, or without one, or in kube-system, which may have system-cluster-critical and system-node-critical; or (since Kubernetes 1.17) create a ResourceQuota with a scopeSelector for the priority class in the namespace" + thenRetried,
		command: "kubectl get resourcequota -n {namespace}",
	},
	{
		kind:     RefusalNodeSelector,
		patterns: re(`^(?P<detail>pod node label selector (?:conflicts with its namespace node label selector|labels conflict with its namespace whitelist))`),
		complete: true, brief: "nodeSelector of the namespace",
		text:    "{detail}",
		advice:  "{recreate} with a nodeSelector that agrees with the annotation scheduler.alpha.kubernetes.io/node-selector of the namespace, or have that changed" + thenRetried,
		command: "kubectl get namespace {namespace} -o yaml",
	},
	{
		kind:     RefusalNamespace,
		patterns: re(`^(?P<detail>unable to create new content in namespace (?P<name>\S+) because it is being terminated)`),
		complete: true, brief: "namespace being deleted",
		text:    "namespace {name} is being deleted",
		advice:  "create the Job in another namespace; nothing can be created in this one before its deletion ends",
		command: "kubectl describe namespace {namespace}",
	},
	{
		kind:       RefusalPolicy,
		patterns:   re(`^ValidatingAdmissionPolicy '(?P<name>[^']+)' (?:with binding '[^']+' )?denied request: (?P<detail>.*)`),
		ofTemplate: true, brief: "policy {name}",
		text:    "ValidatingAdmissionPolicy {name} denies them",
		advice:  "{recreate} as the policy demands, or have the policy changed" + thenRetried,
		command: "kubectl get validatingadmissionpolicies",
	},
	{
		kind:     RefusalGatekeeper,
		patterns: re(`^admission webhook "[^"]*gatekeeper[^"]*" denied the request: \[(?:denied by )?(?P<name>[-.a-z0-9]+)\] (?P<detail>.*)`),
		brief:    "Gatekeeper: {name}",
		text:     "constraint {name} of Gatekeeper denies them",
		advice:   "{recreate} as the constraint demands, or have the constraint changed" + thenRetried,
		command:  "kubectl get constraints",
	},
	{
		kind: RefusalKyverno,
		patterns: re(`^admission webhook "[^"]*kyverno[^"]*" denied the request: (?:resource \S+ was blocked due to the following policies |`+
			`policy \S+ for resource violations?: )(?P<name>[-.a-z0-9]+): (?:[-\w]+: )?'?(?P<detail>.*?)'?$`,
			`^admission webhook "[^"]*kyverno[^"]*" denied the request: Policy (?P<name>[-.a-z0-9]+) (?:failed|error): (?P<detail>.*)`),
		brief:   "Kyverno: {name}",
		text:    "policy {name} of Kyverno denies them",
		advice:  "{recreate} as the policy demands, or have the policy changed" + thenRetried,
		command: "kubectl get clusterpolicies.kyverno.io,policies.kyverno.io -n {namespace}",
	},
	{
		kind: RefusalWebhook, yieldsTo: []RefusalKind{RefusalGatekeeper, RefusalKyverno, RefusalAutopilot, RefusalServiceAccount},
		patterns: re(`^admission webhook "(?P<name>[^"]+)" denied the request(?:: | |:$)(?P<detail>.*)`),
		brief:    "webhook {name}",
		text:     "admission webhook {name} denies them",
		advice:   "{recreate} as the webhook demands, or have the webhook changed" + thenRetried,
		command:  WebhookCommand,
	},
	{
		kind:     RefusalWebhookDown,
		patterns: re(`^failed calling (?:admission )?webhook "(?P<name>[^"]+)": (?P<detail>.*)`),
		brief:    "webhook {name} down",
		text:     "admission webhook {name} does not work",
		advice:   "have the webhook repaired" + thenRetried,
		command:  WebhookCommand,
	},
	{
		kind:     RefusalEtcdFull,
		patterns: re(`^(?P<detail>etcdserver: mvcc: database space exceeded)`),
		complete: true, brief: "etcd is full",
		text:   "the database of the cluster, etcd, is full",
		advice: "have the administrator of the cluster compact and defragment etcd, and disarm its alarm; until then, nothing can be created" + thenRetried,
	},
	{
		kind: RefusalUnavailable,
		patterns: re(`^(?P<detail>Timeout: request did not complete.*|etcdserver: (?:request timed out|leader changed|too many requests).*|the server is currently unable to handle the request.*|` +
			`the server was unable to return a response in the time allotted.*|context deadline exceeded)`),
		brief:   "API server slow",
		text:    "the API server, or its etcd, does not answer in time",
		advice:  "check webhooks on pods, which may be slow, and the load of the API server and of etcd" + thenRetried,
		command: "kubectl get --raw '/readyz?verbose'",
	},
	{
		kind:     RefusalConflict,
		patterns: re(`^Operation cannot be fulfilled on \S+ "(?P<name>[^"]+)": the object has been modified`),
		complete: true, brief: "quota updated",
		text:   "quota {name} was updated by others at the same time",
		advice: "wait: the controller creates them at its next attempts{?; if that lasts, create fewer Jobs at once}",
	},
	{
		kind:     RefusalUnknownOwner,
		patterns: re(`^(?P<detail>cannot set blockOwnerDeletion) in this case because cannot find RESTMapping for APIVersion (?P<name>\S+) Kind`),
		complete: true, brief: "unknown owner",
		text:   "the API server does not know {name} of their owner ({detail}: no RESTMapping)",
		advice: "have the administrator of the cluster update its API server, or correct its admission plugin OwnerReferencesPermissionEnforcement, which checks owners: the pod template is not at fault" + thenRetried,
	},
	// The other kinds are recognized by the words before the message.
	{kind: RefusalInvalid, brief: "invalid pod template", text: "the API server rejects the pod template as invalid", advice: correctTemplate, ofTemplate: true},
	// A missing permission, a node selector of the namespace, …
	{kind: RefusalForbidden, brief: "forbidden", text: "{detail}", complete: true, advice: resolveIt},
	// Such as an outage of etcd.
	{kind: RefusalOther, brief: "rejected", text: "the API server rejects them", advice: resolveIt},
})

// wrappers matches the prefixes that controllers and the API server put before the reason: the event recorder combines
// similar events, and some errors are internal.
var wrappers = lazyregexp.New(`^(?:\(combined from similar events\): )?(?:Error creating(?: job)?: )?(?:Internal error occurred: )?((?:pods|jobs\.batch)(?: "[^"]*")? is forbidden: |(?:Pod|Job\.batch)(?: "[^"]*")? is invalid: )?`)

// OfRefusal returns the meaning of the message of an event FailedCreate.
func OfRefusal(message string) *Refusal {
	message = strings.Join(strings.Fields(message), " ")
	wrapper := wrappers.FindStringSubmatch(message)
	message = message[len(wrapper[0]):]
	found := find(refusals, message)
	if found == nil {
		switch {
		case wrapper[1] == "":
			return &Refusal{Kind: RefusalOther, Message: message}
		case strings.HasSuffix(wrapper[1], "is invalid: "):
			return &Refusal{Kind: RefusalInvalid, Message: message}
		}
		return &Refusal{Kind: RefusalForbidden, Message: message}
	}
	r := &Refusal{Kind: found.kind}
	found.read(message, map[string]*string{"name": &r.By, "namespace": &r.Namespace, "detail": &r.Message})
	switch r.Kind {
	case RefusalWebhook: // It may write what an admission plugin does.
		if inner := OfRefusal(r.Message); wrappers.FindStringSubmatch(r.Message)[1] != "" && inner.row().patterns != nil {
			return inner
		}
	case RefusalWebhookDown:
		r.Webhook = OfWebhook(r.Message)
	case RefusalQuotaNeeds:
		r.Lacks = lacking(r.Message)
	case RefusalSCC:
		r.Message, r.Fields = violations(withoutUnusable(r.Message))
	case RefusalPSP:
		r.Message = wording.Join(", ", slices.Compact(strings.Split(policyField.ReplaceAllString(r.Message, "\n"), "\n"))...)
	}
	return r
}

func (r *Refusal) row() *row[RefusalKind] { return rowIn(refusals, r.Kind) }

// Brief returns the refusal in a few words for a column.
func (r *Refusal) Brief() string { return r.fill(r.row().brief) }

// quoted matches the containers that Kubernetes quotes, and named matches the containers by the kind of the refusal; a webhook may name
// anything.
var (
	quoted = lazyregexp.New(`(?i)\bcontainers? "[^"]+"(?:, "[^"]+")*`)
	named  = map[RefusalKind]*lazyregexp.Regexp{
		RefusalPodSecurity: quoted, RefusalPolicy: quoted, RefusalQuotaNeeds: lazyregexp.New(`\bfor: [-a-z0-9]+(?:,[-a-z0-9]+)*`),
	}
)

// NoteInjected sets Injected; inTemplate and hasField report whether a container or a field is in the pod template.
func (r *Refusal) NoteInjected(inTemplate, hasField func(name string) bool) {
	if all := r.invalidFields(); !slices.ContainsFunc(all, func(f invalidField) bool { return hasField(f.place()) }) {
		for _, f := range all {
			r.Injected = append(r.Injected, f.path)
		}
	}
	pattern := named[r.Kind]
	if pattern == nil {
		return
	}
	var all []string
	for _, at := range pattern.FindAllStringIndex(r.Message, -1) {
		_, list, _ := strings.Cut(r.Message[at[0]:at[1]], " ")
		for name := range strings.SplitSeq(list, ",") {
			name = strings.Trim(name, `" `)
			if inTemplate(name) {
				return
			}
			if len(validation.IsDNS1123Label(name)) == 0 && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	r.Injected = all
}

// Text returns the refusal as a clause, with the part of the message that says why; "them" are the refused objects.
func (r *Refusal) Text() string {
	text, detail := r.Clause()
	switch {
	case r.Kind == RefusalQuota:
		return text + wording.InBrackets(detail)
	case r.Webhook != nil:
		detail = wording.Quoted(detail)
	}
	return wording.Join(": ", text, detail)
}

// Clause returns the refusal as a clause, and the part of the message that says why; "" if the clause does.
func (r *Refusal) Clause() (text, detail string) {
	row := r.row()
	text = r.fill(row.text)
	if len(r.Injected) > 0 {
		if r.Kind == RefusalInvalid {
			return "the API server rejects field " + r.Injected[0] + " (not in the pod template)", wording.Shorten(r.invalidFields()[0].why, maxMessage)
		}
		of, isOfTemplate := strings.CutSuffix(text, " the pod template")
		if !isOfTemplate {
			of += " because of"
		}
		text = of + wording.Form(len(r.Injected), " container ", " containers ") + wording.Enumerate(r.Injected, "and") + " (not in the pod template)"
	}
	limits, _ := r.aboveLimits()
	switch {
	case limits != nil:
		return "default limits of a LimitRange are below the requests", wording.Enumerate(limits, "and")
	case r.Webhook != nil:
		return "admission webhook " + r.By + " " + r.Webhook.Text(""), r.Webhook.Quote()
	case r.neverFits() == "pods", r.neverFits() == "Jobs":
		return "ResourceQuota " + r.By + " allows no such " + r.neverFits(), r.shortMessage()
	case r.neverFits() != "":
		return "a pod asks for more than ResourceQuota " + r.By + " has in all", r.shortMessage()
	case r.Kind == RefusalQuota:
		return text, r.shortMessage()
	case row.complete:
		return text, ""
	case r.Message == "without explanation":
		return text + " " + r.Message, ""
	case len(r.invalidFields()) > 0:
		first := r.invalidFields()[0]
		return text, first.path + ": " + wording.Shorten(first.why, maxMessage-len(first.path))
	case r.Kind == RefusalPodSecurity && len(r.Message) > maxChecks:
		return text, bracketed.ReplaceAllString(r.Message, "")
	}
	return text, r.shortMessage()
}

// maxChecks is the maximum length of the checks of Pod Security with what each demands, which is in brackets.
const maxChecks = 80

var bracketed = lazyregexp.New(` \([^()]*\)`)

// IsWhole reports whether each part of the message may be the reason.
func (r *Refusal) IsWhole() bool {
	limits, _ := r.aboveLimits()
	return r.row().whole || limits != nil
}

// Advice returns advice on the refusal of a Job's pods, and the command that creates or shows its object, "" if there is none; namespace
// is a word of the command.
func (r *Refusal) Advice(namespace string) (text, command string) {
	text = r.fill(r.row().advice)
	switch {
	case r.Webhook != nil:
		text = r.Webhook.Advice("")
		if r.Webhook.Namespace != "" && slices.Contains([]TroubleKind{NoEndpoints, Refused, NoAnswer}, r.Webhook.Kind) {
			command = "kubectl get pods,endpoints -n " + r.Webhook.Namespace
		}
	case len(r.Injected) > 0:
		text = "find the webhook that adds " + wording.Enumerate(r.added(), "and") + " to pods, and have it leave out these pods, or add what is allowed"
		if strings.Contains(r.Message, "init containers without restartPolicy=Always") {
			text += ": before Kubernetes 1.29, API servers drop the restartPolicy of init containers, so there are no native sidecars"
		}
		text += thenRetried
		if strings.Count(r.Message, "pod or container") == len(quoted.FindAllStringIndex(r.Message, -1)) && r.Kind == RefusalPodSecurity {
			text = "{recreate} " + r.settings("the pod") + "; or " + text
		}
		return text, WebhookCommand
	case r.Kind == RefusalSCC:
		text = r.constraintAdvice(namespace)
	case r.IsOfPolicy(), r.Kind == RefusalAutopilot:
		text = cmp.Or(r.Demand(), text)
	case len(r.invalidFields()) > 0:
		text, command = r.correctField()
	case r.limitedNumber() != "" && r.neverFits() == "":
		text = "wait until other " + r.limitedNumber() + " of the namespace have ended, or delete those that are no longer needed{?, as the controller tries again}; or have the quota raised"
	case r.neverFits() == "pods":
		text = "check which pods the quota applies to (its scopes; BestEffort: pods without requests and limits), and {recreate} so that it does not apply, or have it raised"
	case r.neverFits() == "Jobs":
		text = "check the quota, and have it raised; what others free up does not suffice"
	case r.neverFits() != "":
		text = "{recreate} with smaller requests, or have the quota raised; what others free up does not suffice"
	}
	return text, wording.Insert(cmp.Or(command, r.row().command), "{namespace}", namespace, "{name}", r.By, "{classes}", strings.ToLower(r.Message)+"es")
}

// IsOfQuota reports whether a quota refuses the object.
func (r *Refusal) IsOfQuota() bool { return r.Kind == RefusalQuota || r.Kind == RefusalQuotaNeeds }

// IsOfPolicy reports whether a policy or webhook denies what is created, which may be changed to satisfy it.
func (r *Refusal) IsOfPolicy() bool {
	return slices.Contains([]RefusalKind{RefusalPolicy, RefusalWebhook, RefusalGatekeeper, RefusalKyverno}, r.Kind)
}

// IsElsewhere reports whether the cluster is at fault, and not the pod template.
func (r *Refusal) IsElsewhere() bool {
	return r != nil && slices.Contains([]RefusalKind{RefusalWebhookDown, RefusalEtcdFull, RefusalUnavailable, RefusalNamespace, RefusalConflict, RefusalUnknownOwner}, r.Kind)
}

// IsOfTemplate reports whether the pod template has to change.
func (r *Refusal) IsOfTemplate() bool { return r.row().ofTemplate && len(r.Injected) == 0 }

// maxWhole limits a message that is not cut, as it may come from a forged event.
const maxWhole = 800

func (r *Refusal) shortMessage() string {
	if r.row().whole {
		return wording.Shorten(r.Message, maxWhole)
	}
	return wording.Shorten(r.Message, maxMessage)
}

func (r *Refusal) fill(template string) string {
	inNamespace := ""
	if r.Namespace != "" {
		inNamespace = " in namespace " + r.Namespace
	}
	account := "its ServiceAccount"
	if r.Account != "" {
		account = "ServiceAccount " + r.Account
	}
	detail, fields := cmp.Or(r.shortMessage(), "the pod template"), cmp.Or(wording.Enumerate(r.Fields, "and"), "the values that the message names")
	return wording.Insert(template, "{fields}", fields, "{name}", r.By, "{in namespace}", inNamespace, "{lacks}", wording.Enumerate(r.Lacks, "and"), "{few}", wording.EnumerateFew(r.Lacks), "{account}", account, "{settings}", r.settings("its containers"), "{detail}", detail, "{bounds}", r.bounds())
}
