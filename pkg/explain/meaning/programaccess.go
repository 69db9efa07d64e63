package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Access is a request that the API server, or a cloud, denied to a program.
type Access struct {
	// Namespace and Account name a ServiceAccount; User is the name of another user, or of an identity of a cloud, which has no Verb.
	Namespace string `json:"accountNamespace,omitempty"`
	Account   string `json:"account,omitempty"`
	User      string `json:"user,omitempty"`
	Verb      string `json:"verb,omitempty"`
	// Resource is the resource with its API group and subresource, as in kubectl: "jobs.batch", "pods/log", or several with commas. In is its namespace, ""
	// for the whole cluster.
	Resource string `json:"resource,omitempty"`
	In       string `json:"in,omitempty"`
	// Next is the request that was denied after this one: its verb and resource, "" for none.
	Next string `json:"next,omitempty"`
	// Role is a role that does not exist, although a binding of the account names it, "" for none: "role" or "clusterrole" and its name.
	Role string `json:"role,omitempty"`
}

// missingRole matches what the API server says about a role that a binding names.
var missingRole = lazyregexp.New(`\b((?:cluster)?role)\.rbac\.authorization\.k8s\.io \\*"([^"\\]+)\\*" not found`)

// denied matches the message of the API server, with its quotes escaped or removed, and that of releases before 1.12.
var denied = lazyregexp.New(`User \\*"?([^\s"\\]+)\\*"? cannot ([a-z]+) (?:resource \\*"?([-.a-z0-9]+)(/[a-z]+)?\\*"? in API group \\*"?([-.a-z0-9]*?)\\*"?|([-.a-z0-9]+)(/[a-z]+)?)(?: in the namespace \\*"?([-a-z0-9]+)| at the cluster scope|$)`)

var (
	// granting matches the message of the API server about a role with rights that its creator does not have.
	granting = lazyregexp.New(`user \\?"(?:system:serviceaccount:([^":\\]+):)?([^"\\]+)\\?".* is attempting to grant RBAC permissions`)
	// performs matches what a cloud does not allow, with the object that it is about.
	performs = lazyregexp.New(`(?i)\bnot authorized to perform:? (\w[\w*-]*:[\w:*-]+)(?:\.? on resource:? \\?"?([^\s"\\]*[^\s"\\*.]))?|` +
		`\bdoes not have (\S+) (?:access|permission in)\b(?: (?:to )?([\w.-]+/[^\s,]*[^\s,.]|project [\w-]+))?|\bRequired \\?['"]([\w.]+)\\?['"] permission(?:\(s\))? for \\?['"]([^'"\\]+)|\bdoes not have (\w+ \w+) permission on key vault '([^';]+)`)
	// identity matches the identity of a cloud in a message about its rights, and ofNode a role of AWS that a pod has from its node:
	// the session has the name of an instance.
	identity = lazyregexp.New(`(?i)\bUser: (arn:\S+) is not authorized|\b(\S+@\S+\.gserviceaccount\.com) does not have|\bthe (client '[^']+')`)
	ofNode   = lazyregexp.New(`:assumed-role/([^/\s]+)/i-[0-9a-f]+$`)
	roleName = lazyregexp.New(`:(?:assumed-)?((?:role|user)/[^/\s]+)`)
)

const (
	// verbGrant is the verb of an Access that no rule for the resource allows, and anonymous the user of requests without credentials.
	verbGrant = "grant"
	anonymous = "system:anonymous"
	// nodeUser is the beginning of the names of kubelets.
	nodeUser = "system:node:"
)

// HasRule reports whether a rule of a Role for the user and the resource allows the request, and should.
func (a *Access) HasRule() bool {
	return a.Verb != "" && a.Verb != verbGrant && a.User != anonymous && !strings.HasPrefix(a.User, nodeUser)
}

// readAccess sets the request that the API server or a cloud denied, and describes that of the API server as the subject.
func readAccess(e *KnownError, line string) {
	if m := granting.FindStringSubmatch(line); m != nil {
		a := Access{Namespace: m[1], Account: m[2], Verb: verbGrant, Resource: "RBAC permissions that it does not have", In: m[1]}
		if m[1] == "" {
			a.User, a.Account = m[2], ""
		}
		e.describeAccess(a)
		return
	}
	if _, url, is := strings.Cut(e.Subject, " for url: "); is {
		e.Subject = url
	}
	m := denied.FindStringSubmatch(line)
	if m == nil {
		e.Access.User, e.Subject = identity.Group(line), strings.Replace(e.Subject, " { ", " ", 1) // the command of MongoDB
		if m := performs.FindStringSubmatch(line); m != nil {
			e.Subject = wording.Join(" on ", m[1]+m[3]+m[5]+m[7], m[2]+m[4]+m[6]+m[8])
		}
		return
	}
	a := Access{Verb: m[2], Resource: wording.Join(".", m[3]+m[6], m[5]) + m[4] + m[7], In: m[8]}
	if name, is := strings.CutPrefix(m[1], "system:serviceaccount:"); is {
		a.Namespace, a.Account, _ = strings.Cut(name, ":")
	} else {
		a.User = m[1]
	}
	if m := missingRole.FindStringSubmatch(line); m != nil {
		a.Role = m[1] + " " + m[2]
	}
	e.describeAccess(a)
}

// vagueForbidden is the subject of an error that has no more than the status of the response.
const vagueForbidden = "403 Forbidden"

var relativePath, absolutePath = lazyregexp.New(`^[^\s:/][^\s:]*/[^\s:]*$`), lazyregexp.New(`/[^\s"'”:,;()]+`)

// addAccess adds the whole path of a file of which the error has only the end; the request that the API server denied to an error that has
// only its status; and the resources of the other requests in these lines that the API server denied to the same account, with the same verb
// and in the same namespace.
func (e *KnownError) addAccess(lines []string) {
	if e.Kind == ErrorPermission && relativePath.MatchString(e.Subject) {
		for _, path := range absolutePath.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
			if strings.HasSuffix(path[0], "/"+e.Subject) {
				e.Subject = path[0]
			}
		}
	}
	for i := len(lines) - 1; i >= 0 && e.Kind == ErrorForbidden && e.Subject == vagueForbidden; i-- {
		readAccess(e, lines[i])
	}
	if m := vaultRequest.FindStringSubmatch(strings.Join(lines, "\n")); m != nil && e.Kind == ErrorForbidden && e.Access == (Access{}) {
		e.Subject = "permission denied by Vault for " + m[1] + " " + m[2]
	}
	var resources []string
	for _, line := range lines {
		var other KnownError
		readAccess(&other, line)
		all := other.Access
		if all.Resource, all.Next = e.Access.Resource, e.Access.Next; e.Access.Verb != "" && all == e.Access && !slices.Contains(resources, other.Access.Resource) {
			resources = append(resources, other.Access.Resource)
		}
	}
	if a := e.Access; len(resources) > 1 {
		a.Resource = strings.Join(resources, ",")
		e.describeAccess(a)
	}
}

// firstDenied returns the first of several requests of the same user that the API server denied shortly one after the other, with the
// position of its line: what a program tries next often only stands in for it.
func firstDenied(all []string, at int, known *KnownError) (*KnownError, int) {
	last := &known.Access
	for first, i := at, at-1; i >= max(0, first-maxPlainLines) && last.HasRule(); i-- {
		other := KnownError{Kind: known.Kind}
		readAccess(&other, all[i])
		if a := &other.Access; a.HasRule() && a.User == last.User && a.Account == last.Account && a.Namespace == last.Namespace {
			first = i
			if a.Verb != last.Verb || a.In != last.In {
				a.Next = last.Verb + " " + last.resources()
				known, at = &other, i
			}
		}
	}
	return known, at
}

// describeAccess sets the request that was denied, and the subject.
func (e *KnownError) describeAccess(a Access) {
	who, where := a.User, " at the cluster scope"
	if a.Account != "" {
		who = "ServiceAccount " + a.Account
	}
	switch a.In {
	case "":
	case a.Namespace:
		where = ""
	default:
		where = " in namespace " + a.In
	}
	may := fmt.Sprintf("cannot %s %s", a.Verb, a.resources())
	if a.Role != "" {
		may += ", as its " + a.Role + " does not exist"
	}
	e.Access, e.Subject = a, may
	longers := []string{who + " " + may, who + " " + may + where}
	if a.In != "" && where != "" { // Another namespace says more than a long name.
		longers = slices.Insert(longers, 1, may+where)
	}
	for _, longer := range longers {
		if utf8.RuneCountInString(longer) <= maxDetail { // The resource must not be cut.
			e.Subject = longer
		}
	}
}

// resources returns the resources in words.
func (a *Access) resources() string { return wording.Enumerate(strings.Split(a.Resource, ","), "and") }

// authenticationText returns the program's own words if the subject has them, or the account that was not accepted.
func authenticationText(subject string) string {
	if subject == notLoggedIn {
		return "the API server does not accept its credentials (Unauthorized)"
	}
	if subject == "" || strings.Contains(subject, " ") {
		return cmp.Or(strings.ReplaceAll(subject, `\`, ""), "authentication failed")
	}
	return "authentication failed (" + subject + ")"
}

// notLoggedIn is a part of the words of kubectl about a token or certificate that the API server does not accept.
const notLoggedIn = "logged in to the server"

// noPassword matches the message of a server or client about a password that is missing or empty.
var noPassword = lazyregexp.New(`(?i)no password|using password: NO|password must be|empty password|without a password`)

// authenticationAdvice names the variables or Secrets that may have the credentials.
func authenticationAdvice(e *KnownError, c Container) string {
	text := "check the password, key or token that the container uses, and " + secretsText(c)
	if len(c.Secrets) == 0 {
		text = "give container " + c.Name + " credentials that its server accepts, as a variable or a volume from a Secret: its template names no Secret"
	}
	if named := c.credentials(); strings.HasPrefix(named, "variable") {
		text = "check the password, key or token of the program in " + named
	}
	switch {
	case noPassword.MatchString(e.Subject):
		from := fmt.Sprintf("container %s needs it as a variable in env from a Secret, or in the configuration that the program reads%s", c.Name, wording.InBrackets(c.fixedMounts()))
		for _, v := range c.Variables {
			if strings.HasSuffix(v.Name, "PASSWORD") && v.Value == "" && v.From == "" {
				return "give the program the password of its database user: variable " + v.Name + " of container " + c.Name + " is empty"
			}
		}
		return "give the program the password of its database user: " + cmp.Or(prefixed("check whether the program looks for it where it has it from, ", c.credentials()), from)
	case strings.HasPrefix(e.Subject, "Access denied for user"):
		text = "check whether the user is the one that the program should use, then its password" + wording.InBrackets(c.credentials()) + "; a database keeps the password that it was created with"
	case strings.Contains(strings.ToLower(e.Subject), "for user"):
		text += "; a database keeps the password that it was created with"
	case e.Subject == notLoggedIn:
		text = fmt.Sprintf("check the kubeconfig with which the program asks the API server%s, or else the token of ServiceAccount %s: whether it is mounted, and neither expired nor from another cluster", wording.InBrackets(c.fixedMounts()), c.account())
	case strings.HasSuffix(e.Subject, onlyUnauthorized):
		check := fmt.Sprintf("check the token of ServiceAccount %s: whether it is mounted, and neither expired nor from another cluster, as after a restore or a change of the key that signs tokens", c.account())
		if e.APIServer {
			return check
		}
		text = "if the API server said so, " + check + "; otherwise " + text
	}
	return text
}

// keyAdvice says how to correct the file of a private key.
func keyAdvice(e *KnownError, c Container) string {
	key, reason, _ := strings.Cut(e.Subject, ":")
	from, place := cmp.Or(secretsText(c), "the Secret that it comes from"), "its volume"
	if in := mountOf(key, c.Mounts); in != nil {
		from, place = cmp.Or(strings.TrimSuffix(in.Kind, "emptyDir"), from), in.place(c)
	}
	switch reason = strings.ToLower(reason); {
	case strings.Contains(reason, "permission") && c.FSGroup != "":
		return fmt.Sprintf("leave out fsGroup %s, with which a group may read the key whatever its defaultMode, or have the command copy it from %s into an emptyDir, and close it there (chmod 0600)", c.FSGroup, place)
	case strings.Contains(reason, "permission") && c.User != "" && c.User != "0":
		return fmt.Sprintf("have the command copy the key from %s into an emptyDir, and close it there (chmod 0600): the files of the volume belong to root, and SSH accepts a key only if its own user alone may read it", place)
	case strings.Contains(reason, "permission"):
		return "let only the container's user read the key: defaultMode 0400 of " + place
	case strings.Contains(reason, "passphrase"):
		return fmt.Sprintf("put a private key without a passphrase into %s, as nobody can enter it", from)
	}
	return fmt.Sprintf("replace the key in %s by a whole private key: with its BEGIN and END lines, the line breaks between them and one at its end, not encoded twice, and in a format that the SSH of the image knows (image %s)", from, c.Image)
}

// secretsText names the Secrets that the container uses, "" if there are none.
func secretsText(c Container) string {
	n := len(c.Secrets)
	if n == 0 {
		return ""
	}
	return wording.Form(n, "Secret ", "Secrets ") + wording.Enumerate(c.Secrets[:min(n, maxSecrets)], "and")
}

// onlyUnauthorized is the whole message of the API server about a token that it does not accept.
const onlyUnauthorized = ": Unauthorized"

// ofResource matches what a program does with an object of the API server.
var ofResource = lazyregexp.New(`(?i)\b(?:get|list|watch|creat|updat|patch|delet|retriev|fetch)\w* (?:\w+ )?(?:secret|configmap|pod|job|node|service|lease|deployment|namespace|crd|webhook)`)

// readUnauthorized sets the subject of a message that ends with the words of the API server.
func readUnauthorized(e *KnownError, line string) {
	if text := readLine(line).text; e.Subject == "" && strings.HasSuffix(text, onlyUnauthorized) {
		e.Subject, e.APIServer = lastWords(text), ofResource.MatchString(text)
	}
	e.Subject = strings.TrimRight(strings.Replace(e.Subject, "client to provide credentials", notLoggedIn, 1), ":")
	if m := cloudCall.FindStringSubmatch(line); m != nil {
		e.Subject = wording.Join(": ", wording.Join(" to ", m[1], m[2]), cmp.Or(m[4], "a request")+" fails with "+m[3])
	}
}

// maxSecrets is the maximum number of Secrets that advice names.
const maxSecrets = 3

// accessErrors are errors about credentials and permissions.
var accessErrors = []errorRow{
	{
		kind: ErrorAuthentication, brief: "login failed",
		yieldsTo: []ErrorKind{ErrorForbidden, ErrorModelMissing},
		leads:    []ErrorKind{ErrorServerRules}, // A client of PostgreSQL then tries it without TLS.
		patterns: []errorPattern{
			{"authentication fail", lazyregexp.New(`(?i)(\w+ authentication failed for user \\*["']?[^\s"'\\()]+\\*["']?|SASL authentication failed)|authentication failed for '([^']+)'|((?:\w+: )?authentication failed: password is incorrect)|\b535\b.*(authentication failed)`), nil},
			{"aadsts|login failed for user '|noauth authentication required|login was refused using authentication mechanism | requires authentication|server failed to authenticate the request|access refused|code = unauthenticated|client to provide credentials|login incorrect|wrongpass|could not read ", lazyregexp.New(`AADSTS\d+: ([^.]+)|(Login failed for user '[^']*')|\bNOAUTH Authentication required\b|(Login was refused using authentication mechanism \w+)|(command \w+ requires authentication)|(Server failed to authenticate the request)|\*\*\* (Access refused)|\bcode = Unauthenticated\b(?: desc = (\w+ [^"]+))?|(client to provide credentials)|(?i:\b(login incorrect)\b)|\bWRONGPASS\b|(could not read (?:Username|Password) for '[^']+')`), nil},
			{"access denied for user", lazyregexp.New(`(Access denied for user '[^']*'(?:@'[^']*')?(?: \(using password: NO\))?)`), nil},
			{"an error occurred (", cloudCall, nil},
			{"password|credential|user|key|token|login|secret|signature", lazyregexp.New(`(?i)(?:^|[:,>(\]'"-] *)((?:invalid|incorrect|wrong|bad|expired) (?:user(?:name)?[ -]?(?:or |/|and )?)?(?:\w+ )?(?:password|credentials|access token|api key|access key|client secret)(?: (?:provided|returned by \w+|or no key found))?)\b|\b((?:no|client) password (?:supplied|provided|must be a string))\b$|` +
				`(?:^|[:,.>(\]'] *)((?:(?:the|your|provided|database|aws) )*(?:passwords?|credentials?|access key|api key|access token|request signature)\b(?: id| or \w+)?(?: for \x60[^\x60]+\x60)?(?: (?:you provided|we calculated))? (?:is|are|was|has|have|could|does|do|did)(?: been| not| be)* (?:not |be )?(?:valid|accepted|match|recognized|exist|verified|invalid|incorrect|wrong|empty|expired|revoked)\b[^.;:,")]*)`), nil},
			{"401", lazyregexp.New(`(?i)\b401\b.*\bunauthorized(?: for url: (\S+))?|returned error: 401\b`), nil},
			{"unauthorized", lazyregexp.New(`: Unauthorized$|"(?:err|error)": ?"(?:[^"]*: )?Unauthorized"|(logged in to the server) \(Unauthorized\)|(?i:unauthorized: authentication required)`), nil},
			{"token |jwt ", lazyregexp.New(`(?i)(?:^|[:'] ?)((?:the )?(?:(?:security )?token(?: included in the request)?|jwt) (?:has |is )?(?:been )?(?:expired|revoked|invalid)(?: or revoked)?)\b`), nil},
			{"authentication fail", lazyregexp.New(`(?i)\bauthentication fail(?:ed|ure)\b`), nil},
		},
		read:     readUnauthorized,
		subject:  lazyregexp.New(`https?://([^\s/?#"'\])]+)`),
		answer:   lazyregexp.New(`(?:^\W*|\{.*)"message"\s*:\s*"([^"\\]+)"`),
		describe: authenticationText,
		advise:   authenticationAdvice,
	},
	{
		kind: ErrorModelMissing, brief: "model not found",
		patterns: []errorPattern{
			{"for url: http", lazyregexp.New(`(?:Repository Not Found|401 Client Error: Unauthorized) for url: https?://huggingface\.co/(?:(?:models/|datasets/|spaces/)?([^/\s]+?(?:/[^/\s]+?)?)/(?:resolve|revision|tree|raw)/|api/(?:models|datasets|spaces)/([^/\s]+?(?:/[^/\s]+?)?)(?:/(?:resolve|revision|tree|raw)/|\.?(?:\s|$)))`), nil},
			{"valid model identifier", lazyregexp.New(`(\S+) is not a local folder and is not a valid model identifier`), nil},
		},
		leads:    []ErrorKind{ErrorAuthentication},
		describe: modelText,
		advise:   modelAdvice,
	},
	{
		kind: ErrorSSHLogin, brief: "SSH login refused",
		patterns: []errorPattern{{"permission denied (", lazyregexp.New(`(?:(\S+@\S+): )?Permission denied \(([a-z,-]+)\)`), nil}},
		read: func(e *KnownError, _ string) {
			if at := strings.LastIndex(e.Subject, ":"); at >= 0 {
				e.Subject = e.Subject[:at] + " refuses SSH (" + e.Subject[at+1:] + ")"
			} else if e.Subject != "" {
				e.Subject = "an SSH server accepts no key or password of it (" + e.Subject + ")"
			}
		},
		yieldsTo: []ErrorKind{ErrorSSHKey},
		isLate:   true,
		text:     "{%s|an SSH server accepts no key or password of it}",
		advise: func(e *KnownError, c Container) string {
			public := "put its public key into authorized_keys of the user there: the server also refuses keys if others may write to that file or to .ssh"
			if strings.HasPrefix(e.Subject, "git@") {
				public = "add its public key to the account or as a deploy key at that Git server"
			}
			return fmt.Sprintf("give container %s a private key from %s (defaultMode 0400), and %s", c.Name, cmp.Or(secretsText(c), "a Secret"), public)
		},
	},
	{
		kind: ErrorSSHKey, brief: "broken SSH key",
		yieldsTo: []ErrorKind{ErrorPermission, ErrorFileMissing},
		patterns: []errorPattern{{"load key", lazyregexp.New(`(?i)\bload key \\*"([^"\\]+)\\*": ([a-z][\w ]+)`), nil}},
		describe: func(subject string) string {
			key, reason, _ := strings.Cut(subject, ":")
			return "SSH cannot use its private key " + wording.Join(": ", key, reason)
		},
		advise: keyAdvice,
	},
	{
		kind: ErrorNoCredentials, brief: "no credentials",
		patterns: []errorPattern{{" credentials|no valid credential sources|failed to refresh cached credentials|defaultazurecredential failed|do not currently have an active account selected|no sas token or oauth token is present|please run 'az login'|failed to connect to msi|anonymous caller does not have ", lazyregexp.New(`(?i:(?:unable to|could not|cannot|failed to) (?:locate|load|find|automatically determine) (?:aws |default |any )?credentials|default credentials(?: were not found|\. See)|no valid credential sources|failed to refresh cached credentials|DefaultAzureCredential failed)|do not currently have an active account selected|no SAS token or OAuth token is present|Please run 'az login'|Failed to connect to MSI|(Anonymous caller does not have \S+ access)`), nil}},
		text:     "it {sends no credentials to its cloud: %s|found no credentials for its cloud}",
		advise: func(_ *KnownError, c Container) string {
			identity := fmt.Sprintf("give ServiceAccount %s an identity in the cloud (its annotation, or a binding there)", c.Account)
			if c.account() == defaultAccount {
				identity = "give the pod a ServiceAccount that has an identity in the cloud (serviceAccountName)"
			}
			return identity + cmp.Or(prefixed(", or check the credentials of ", c.credentials()), ", or container "+c.Name+" credentials from a Secret")
		},
	},
	{
		kind: ErrorForbidden, brief: "not permitted",
		patterns: []errorPattern{
			{" cannot ", denied, nil},
			{"attempting to grant", granting, nil},
			{"permission ", lazyregexp.New(`Permission '(iam\.serviceAccounts\.getAccessToken)' denied|Permission ([a-z]+(?:\.\w+)+) denied on (?:\w+ )?[^\s(]+`), nil},
			{"403", lazyregexp.New(`\b(403(?: Client Error)?:? Forbidden for url: \S+|(?:\w+ request failed with|HTTP Error) 403:? \(?Forbidden\)?|403 Insufficient Permission)|(?i:(?:error|exception|failed|could not|cannot)\b.*\b(403 Forbidden))`), nil},
			{"not authorized ", lazyregexp.New(`(not authorized \w+ [\w.$-]+ \w+ [\w.$-]+(?: command(?: \{ \w+)?)?)`), nil},
			{"to database|required permissions|to perform action|unauthorized to access|requested access to|api error accessdenied", lazyregexp.New(`(Access denied for user '[^']*'@'[^']*' to database '[^']*')|(You do not have the required permissions needed to perform this operation)|does not have authorization to perform action '([^']+)'|(unauthorized to access repository: \S+, action: \w+)|(requested access to the resource is denied)|operation error \w+: (\w+), .*\bapi error AccessDenied`), nil},
			{"per|does not have ", performs, nil},
			{"code = permissiondenied", lazyregexp.New(`\bcode = PermissionDenied\b(?: desc = ([^"]+))?`), nil},                                               // gRPC
			{"code: 403. errors:", lazyregexp.New(`^(Code: 403)\. Errors:$|\bCode: 403\. Errors:(?: \* \d+ errors? occurred:)? \* (permission denied)`), nil}, // Vault
			{"an error occurred (", lazyregexp.New(`An error occurred \((?:AccessDenied|AccessDeniedException|403)\) when calling the (\w+) operation`), nil},
			{"access denied", lazyregexp.New(`((?i:unable|failed) to [^:\\]+?)(?:: [\w.]+)?[:.] Access Denied|\b(\w+ \w+ (?:at|to|from) \S+) failed: .*Access Denied|(AccessDenied: Access Denied)`), nil},
		},
		yieldsTo: []ErrorKind{ErrorNoCredentials},
		read:     readAccess,
		describe: forbiddenText,
		advise:   forbiddenAdvice,
	},
	{
		kind: ErrorRefused, brief: "request refused",
		patterns: []errorPattern{
			{" is forbidden: ", lazyregexp.New(`\b([a-z.]+ \\*"[^"\\]+\\*" is forbidden: (?:exceeded quota: .+|[^:\[]+))`), nil},
			{" denied the request", lazyregexp.New(`(admission webhook \\*"[^"\\]+\\*" denied the request(?:: [^;]+|))`), nil},
		},
		yieldsTo: []ErrorKind{ErrorForbidden},
		read:     readRefused,
		answer:   lazyregexp.New(`^\s+[\w.-]+: '?(?:validation (?:error|failure): )?([^']+?)(?:\. rule \S+ failed.*)?'?$`), // Kyverno
		text:     "the API server refuses it{: %s|}",
		advise:   refusedAdvice,
	},
	{
		kind: ErrorWebhook, brief: "webhook fails",
		patterns: []errorPattern{{"failed calling ", lazyregexp.New(`failed calling (?:admission )?webhook \\*"([^"\\]+)\\*": (?:failed to call webhook: )?(?:Post \S+: )?(?:tls: failed to verify certificate: )?(.+)`), nil}},
		yieldsTo: []ErrorKind{ErrorForbidden, ErrorRefused},
		read:     readRefused,
		text:     "the API server cannot call {webhook %s|a webhook}",
		advise:   refusedAdvice,
	},
}
