package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// saysDenied matches the words of a server that themselves say that it does not allow something.
var saysDenied = lazyregexp.New(`(?i)\bden(?:ied|ies)\b|request failed with 403|\bunauthorized\b`)

// triedTo matches what a program could not do.
var triedTo = lazyregexp.New(`^(?i:unable|failed) to `)

// forbiddenText names the permission that the program lacks, or repeats what the server says.
func forbiddenText(subject string) string {
	switch {
	case saysDenied.MatchString(subject):
		return subject
	case triedTo.MatchString(subject):
		return subject + ": access denied"
	}
	before, _, isURL := strings.Cut(subject, "://")
	return wording.Join(map[bool]string{true: " for ", false: ": "}[isURL && !strings.Contains(before, " ")], "it lacks a permission", subject)
}

// forbiddenAdvice names the Role that the program lacks.
func forbiddenAdvice(e *KnownError, c Container) string {
	a := &e.Access
	who, or, role, where := "user "+a.User, "give the program a kubeconfig of a user who may"+wording.InBrackets(c.fixedMounts()), "a ClusterRole", " in the whole cluster"
	if a.Account != "" {
		who, or = "ServiceAccount "+a.Account, "{recreate} with the serviceAccountName of an account that may"
	}
	if a.Account == c.Account {
		who = c.accountText()
	}
	if a.In != "" {
		role, where = "a Role", " in namespace "+a.In
	}
	switch {
	case a.Verb == "":
		return e.cloudAdvice(c)
	case a.Verb == verbGrant:
		return fmt.Sprintf("give %s itself the permissions that it grants, which the message lists, or the verb escalate (bind for a binding) on roles and clusterroles", who)
	case a.User == anonymous:
		return c.tokenAdvice()
	case strings.HasPrefix(a.User, nodeUser):
		return fmt.Sprintf("have the program ask as ServiceAccount %s of its pod, with a role that may %s %s, in place of the kubelet of its node, whose credentials or kubeconfig it uses%s: a node needs no such right", c.account(), a.Verb, a.resources(), wording.InBrackets(c.fixedMounts()))
	}
	if a.Role != "" {
		return fmt.Sprintf("create %s again, which a binding of %s names: it has to live as long as the Job, so that no hook-delete-policy, uninstallation or owner may remove it before", a.Role, who)
	}
	if isOfBackend := a.Resource == "secrets" || strings.HasPrefix(a.Resource, "leases"); isOfBackend && a.In != "" && a.Account == c.Account && a.In != a.Namespace {
		or += "; if the program should work in its own namespace, " + a.Namespace + ", name that in its command or configuration (in Terraform, namespace of the backend)"
	}
	text := fmt.Sprintf("allow %s to %s %s%s with %s, or %s", who, a.Verb, a.resources(), where, role, or)
	return wording.Join("; the next refusal in the log is to ", text, a.Next)
}

// defaultAccount is the ServiceAccount of pods that name none.
const defaultAccount = "default"

// account returns the ServiceAccount of the pod.
func (c *Container) account() string { return cmp.Or(c.Account, defaultAccount) }

// accountText names the ServiceAccount of the pod, and why it has that.
func (c *Container) accountText() string {
	if c.account() == defaultAccount {
		return "ServiceAccount default, which the pod has as its template names no other,"
	}
	return "ServiceAccount " + c.Account
}

// tokenDir is the folder of the token of a ServiceAccount.
const tokenDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// generatedToken matches the name of a Secret that Kubernetes generated for a ServiceAccount, before 1.24.
var generatedToken = lazyregexp.New(`^(.+)-token-[a-z0-9]{5}$`)

// AccountOfToken returns the ServiceAccount whose generated token a Secret of this name was, "" for other names.
func AccountOfToken(secret string) string { return generatedToken.Group(secret) }

// injected are folders that a webhook or a runner adds to a container, what it needs for that, and the label of the pod template for it, if it has one.
var injected = []struct{ dir, label, how string }{
	{"/var/run/secrets/azure/tokens/", "azure.workload.identity/use", `{recreate} with label azure.workload.identity/use: "true" in the pod template (one of the Job itself has no effect), and give ServiceAccount {account} annotation azure.workload.identity/client-id: the webhook of Azure Workload Identity adds the token and its variables only then`},
	{"/var/run/secrets/azure/tokens/", "", "look at the webhook of Azure Workload Identity (pods azure-wi-webhook in kube-system), which adds the token when a pod is created, then have the pod created again"},
	{"/var/run/secrets/eks.amazonaws.com/", "", "give ServiceAccount {account} annotation eks.amazonaws.com/role-arn, then have the pod created again: the webhook of EKS adds the token only to new pods of such an account"},
	{"/vault/secrets/", "", "check the annotations of the pod template for Vault's agent (vault.hashicorp.com/agent-inject and role, and agent-inject-secret-NAME for each file): its webhook adds the files to new pods that have them"},
	{"/github/", "", "use a newer image of the runner, or newer container hooks in it: they add /github to the container of a step, not image {image}"},
}

// injection says how the container gets a file that a webhook or a runner adds, and which label its pod lacks for that; "" for other files.
func injection(c *Container, file string) (how, label string) {
	for _, r := range injected {
		if strings.HasPrefix(file, r.dir) && mountOf(file, c.Mounts) == nil && (r.label == "" || c.Labels[r.label] != "true") {
			return wording.Insert(r.how, "{account}", c.account(), "{image}", c.Image), r.label
		}
	}
	return "", ""
}

// tokenAdvice returns advice on a program that asks the API server without a token.
func (c *Container) tokenAdvice() string {
	if c.NoToken {
		return fmt.Sprintf("set automountServiceAccountToken to true in the pod template, where it is false: without that, the pod has no token of ServiceAccount %s to ask the API server with", c.account())
	}
	return fmt.Sprintf("have the program send the token of ServiceAccount %s (%s/token; automountServiceAccountToken of the account must not be false), or give it a kubeconfig", c.account(), tokenDir)
}

// identityAdvice names the identity of a cloud that lacks a permission, "" if it is unknown.
func (e *KnownError) identityAdvice(c Container) string {
	what := e.Subject
	if !strings.Contains(what, " on ") {
		what = wording.Join(" on ", what, c.object)
	}
	who := cmp.Or(strings.Replace(roleName.Group(e.Access.User), "/", " ", 1), e.Access.User)
	switch role := ofNode.Group(e.Access.User); {
	case who == "":
		return ""
	case role != "":
		return fmt.Sprintf("give ServiceAccount %s, or another as serviceAccountName, a role that may %s (EKS Pod Identity, or annotation eks.amazonaws.com/role-arn): it has none, so the program asks as role %s of its node", c.account(), e.Subject, role)
	}
	return fmt.Sprintf("allow %s to %s, as which the program asks%s", what, who, wording.InBrackets(cmp.Or(c.credentials(), "ServiceAccount "+c.account())))
}

// cloudAdvice names the account that lacks a permission of a cloud, or of another server.
func (e *KnownError) cloudAdvice(c Container) string {
	action, account := e.Subject, "the account of the program's credentials"+wording.InBrackets(c.credentials())
	if text := e.identityAdvice(c); text != "" {
		return text
	}
	if m := apiPath.FindStringSubmatch(action); m != nil {
		role, where := "a ClusterRole", "in all namespaces"
		if m[2] != "" {
			role, where = "a Role", "in namespace "+m[2]
		}
		return fmt.Sprintf("allow %s what the program does with %s %s, by %s and its binding, or {recreate} with the serviceAccountName of an account that may", c.accountText(), wording.Join(".", m[3], m[1]), where, role)
	}
	name, _, hasObject := strings.Cut(action, " on ")
	if !hasObject {
		action = wording.Join(" on ", action, c.object)
	}
	switch {
	case strings.HasSuffix(assumeRole, name):
		return fmt.Sprintf("have the trust policy of the IAM role allow ServiceAccount %s of this namespace, and check its annotation eks.amazonaws.com/role-arn", c.account())
	case name == impersonation:
		return fmt.Sprintf("bind role iam.workloadIdentityUser on the Google service account to ServiceAccount %s (member PROJECT.svc.id.goog[%s/%s]), and check its annotation iam.gke.io/gcp-service-account", c.account(), c.Namespace, c.account())
	case actionName.MatchString(name):
		return fmt.Sprintf("allow %s to the identity that ServiceAccount %s has in the cloud, or to %s", action, c.account(), account)
	}
	return "give the permission" + cmp.Or(prefixed(" on ", c.object), prefixed(" at ", onlyServer(&c))) + " to " + account + ", or have the program use another one"
}

// assumeRole and impersonation are the actions with which a pod becomes an IAM role, or a service account of Google.
const (
	assumeRole    = "sts:AssumeRoleWithWebIdentity"
	impersonation = "iam.serviceAccounts.getAccessToken"
)

// apiPath matches the URL of objects at an API server: their group, their namespace if it is of one, and their resource.
var apiPath = lazyregexp.New(`^https://[^/]+/apis?(?:/([a-z][a-z0-9.-]*))?/v\d\w*/(?:namespaces/([a-z0-9-]+)/)?([a-z]+)`)

// ObjectsNamespace returns the namespace of the objects that IsOfObjects is about, "" for all namespaces.
func (e *KnownError) ObjectsNamespace() string {
	return append(apiPath.FindStringSubmatch(e.Subject), "", "", "")[2]
}

// IsOfObjects reports whether the API server denied a request that the error shows by its URL only.
func (e *KnownError) IsOfObjects() bool {
	return e.Kind == ErrorForbidden && apiPath.MatchString(e.Subject)
}

// actionName matches the name of an action of a cloud.
var actionName = lazyregexp.New(`^[\w-]+:\w+$|^(?:[A-Z][a-z0-9]+){2,}$|^[\w-]+(?:\.[\w-]+){2,}$`)

// ofRuntime matches files that every container has from the kubelet or its runtime.
var ofRuntime = lazyregexp.New(`^/dev/(?:std|fd|termination-log|null)|^/(?:proc/self|sys/fs/cgroup)/|^/etc/(?:hosts|hostname|resolv\.conf)$`)

// ofSystem matches files of which an image has others in the same folder that its programs need.
var ofSystem = lazyregexp.New(`^/(?:etc|usr|s?bin|lib\d*)/[^/]+$`)

// scratchOf names a folder that any user of the container may write.
func scratchOf(c *Container) string {
	if c.ReadOnlyRoot && mountOf("/tmp/", c.Mounts) == nil {
		return "that of an emptyDir, as the container has readOnlyRootFilesystem"
	}
	return "/tmp or that of an emptyDir"
}

// cloudCall matches a request to AWS whose credentials it does not accept, and what the AWS CLI transferred.
var cloudCall = lazyregexp.New(`(?:(\w+ failed): \S+ to (s3://[^/\s]+)\S* )?An error occurred \((ExpiredToken|ExpiredTokenException|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClientException)\)(?: when calling the (\w+) operation)?`)

// vaultRequest matches the request that Vault refuses, with its path.
var vaultRequest = lazyregexp.New(`\bURL: (\w+) https?://[^/\n]+/v1/([^\s\\]+)\s+Code: 403`)

// askedVault is the clue of a request that Vault does not allow: its log has the path in a line of its own.
func askedVault(q *Clue, c *Container) Remedy {
	m := vaultRequest.FindStringSubmatch(escapedEnd.ReplaceAllString(strings.Join(append(slices.Clone(q.Log), q.Words), "\n"), "\n"))
	of, _ := q.server(c)
	switch {
	case m == nil || !strings.Contains(q.Words, "permission"):
		return Remedy{}
	case strings.HasSuffix(m[2], "/login"):
		return Remedy{Text: "have the role of Vault with which the program logs in at " + m[2] + " allow ServiceAccount " + c.account() + " of namespace " + c.Namespace +
			" (bound_service_account_names and bound_service_account_namespaces), and Vault review tokens of this cluster", Elsewhere: true, Server: of.host}
	}
	who := cmp.Or(prefixed("the token of the program, which it has from ", c.credentials()), "the Vault role with which ServiceAccount "+c.account()+" logs in")
	return Remedy{Text: fmt.Sprintf("allow %s (%s) in a policy of %s, or check whether its token is still valid", m[2], cmp.Or(vaultVerbs[m[1]], m[1]), who), Elsewhere: true, Server: of.host}
}

// vaultVerbs are the capabilities of Vault's policies, by the methods of requests.
var vaultVerbs = map[string]string{"GET": "read, or list", "LIST": "list", "PUT": "create and update", "POST": "create and update", "DELETE": "delete"}

// ofAccess returns the remedy for an error about credentials or rights of which a phrase, or the status of the response, says more.
func (e *KnownError) ofAccess(q *Clue, c *Container) (none Remedy) {
	isAccess := slices.Contains([]ErrorKind{ErrorForbidden, ErrorAuthentication}, e.Kind)
	if !isAccess && !slices.Contains([]ErrorKind{ErrorObjectMissing, ErrorCommandNotFound, ErrorReadOnly, ErrorFileMissing, ErrorUsage}, e.Kind) || e.Access != (Access{}) {
		return none
	}
	with := &Clue{Words: q.Words + "; " + e.Subject, Log: q.Log}
	for _, clue := range []func(*Clue, *Container) Remedy{askedVault, asked(accessAsks)} {
		if out := clue(with, c); out.Text != "" {
			return out
		}
	}
	if isAccess && (e.Subject == "" || e.Subject == vagueForbidden) {
		return responseStatus(with, c)
	}
	return none
}

// ofToken reports whether the pod template keeps a token out of the pod, or the program asks its own pod in place of the API server.
func (e *KnownError) ofToken(c *Container) bool {
	_, label := injection(c, e.Subject)
	return label != "" || e.APIServer && ownPod.MatchString(e.Subject) || c.NoToken && (e.Access.User == anonymous || strings.HasPrefix(e.Subject, tokenDir))
}

const ofAWS, ofAzure = "s3:ListBucket, s3:GetObject and s3:PutObject", "role Storage Blob Data Contributor"

// rightsOn names the rights to an object in a cloud, by its address.
func rightsOn(object string) string {
	scheme, _, _ := strings.Cut(object, ":")
	return cmp.Or(map[string]string{"s3": ofAWS, "s3a": ofAWS, "gs": "role Storage Object Admin", "azure": ofAzure, "abfss": ofAzure, "wasbs": ofAzure}[scheme], "to list, read and write there")
}
