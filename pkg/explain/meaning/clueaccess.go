package meaning

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// accessAsks are phrases of tools that change clusters (kubectl, Helm), and of servers that do not allow what a program asks for.
var accessAsks = []ask{
	{lazyregexp.New(`(violate the pod's disruption budget|unable to drain node "?[^" ]+)`), "find the PodDisruptionBudget that allows no eviction of the pods which the log names (kubectl get pdb -A): give these pods another replica, or the budget more room"},
	{lazyregexp.New(`no kind "(\w+)" is registered for version "([^"]+)"`), "write {1} in {configuration} for a version that the program knows, which {2} is not, or use an image that knows it (image {image})"},
	{lazyregexp.New(`unable to upgrade connection: container not found \("([^"]+)"\)`), "look at the pod in which the program executes its command: its container {1} does not run now"},
	{lazyregexp.New(`(cannot exec into a container in a completed pod)`), "have the command choose a pod that runs (--field-selector=status.phase=Running, or deploy/NAME): it took one that has ended"},
	{lazyregexp.New(`NOPERM (?:User \S+|this user) (has no permissions to [^;]+)`), "have the ACL of {server} allow this to the user with which the program logs in: {credentials}"},
	{lazyregexp.New(`is unauthorized for user \[([^\]]+)\]`), "give user {1} at {server} a role with one of the privileges that the message names, or have the program log in as another: {credentials}"},
	{lazyregexp.New(`(AuthorizationPermissionMismatch|not authorized to perform this operation using this permission|required permissions needed to perform this operation)`), "assign role Storage Blob Data Contributor at the storage account to the identity with which the program logs in: that of ServiceAccount {account}, or of its credentials ({credentials})"},
	{lazyregexp.New(`(AADSTS700\d+: No matching federated identity)`), "give the identity in Entra ID a federated credential for the issuer of the cluster and subject system:serviceaccount:{namespace}:{account}"},
	{lazyregexp.New(`(Service token file does not exist)`), "{token}"},
	{lazyregexp.New(`already locked(?: exclusively)? by PID \d+ on (\S+)`), "let the run on {1}, which holds the lock, end; if that pod or machine is gone, its lock is stale: remove it with unlock of the program"},
	{lazyregexp.New(`checking push permission for "([^"]+)"`), "give container {container} credentials that may push {1}: a Secret of type kubernetes.io/dockerconfigjson, as config.json in /kaniko/.docker (now: {credentials})"},
	{lazyregexp.New(`(file changed as we read it)`), "have the script accept exit code 1 of tar, which only means that files changed while it read them (--warning=no-file-changed), or back up a snapshot of the volume"},
	{lazyregexp.New(`not authorized on (\S+) to execute command`), "grant the program's user at {server} a role that allows this on database {1} (backup lets mongodump read all databases), or have it work on its own database: {credentials}"},
	{lazyregexp.New(`(the server could not find the requested resource)`), "use a version of the program or its chart that fits the cluster: the one in image {image} asks for an API that this cluster does not serve (kubectl api-versions lists those that it does); or install what defines it, if that is a CustomResourceDefinition"},
	{lazyregexp.New(`(?i)(migration checksum mismatch|checksum mismatch for migration)`), "use an image with the migration as it was when the database got it, or, if its change does no harm, accept it (flyway repair, liquibase clear-checksums): until then, a rerun fails again"},
	{lazyregexp.New(`Dag '?([\w.-]+)'? could not be found`), "have the DAG folder of this pod contain DAG {1} (git-sync, a volume, or image {image}), and its file load without an error (airflow dags list-import-errors)"},
	{lazyregexp.New(`(maintenance must be run by designated user)`), "make the user who runs the maintenance its owner in the repository (kopia maintenance set --owner USER@HOST), which names another one"},
	{lazyregexp.New(`could not read (?:Username|Password) for '([^']+)'`), "give git credentials for {1} ({credentials}), or correct the address of the repository: git is asked for a user name if the repository is private or does not exist"},
	{lazyregexp.New(`(InvalidAccessKeyId|Access Key Id you provided does not exist)`), "check the access key of the program ({credentials}), and the server that it asks: S3 of AWS does not know the key of another provider, whose storage needs its address (--endpoint-url, or variable AWS_ENDPOINT_URL)"},
	{lazyregexp.New(`(HTTP request failed with 403 \(Forbidden\))`), "have the policy of the bucket allow the program's key to list, read and write in it, and check key, bucket, endpoint and region ({credentials})"},
	{lazyregexp.New(`file has vanished: "([^"]+)"|tar: (\S+): File removed before we read it|error in Stream: .* src: file: (\S+)`), "look whether {1} is still there: if it was removed or changed while the program copied it, leave such files out, copy at a quiet time, or back up a snapshot of the volume"},
	{lazyregexp.New(`x509: (certificate signed by unknown authority)`), "give the program the CA that signed the certificate of its server: it may have it from {configuration}"},
}

// cloudCall matches a request to AWS whose credentials it does not accept, and what the AWS CLI transferred.
var cloudCall = lazyregexp.New(`(?:(\w+ failed): \S+ to (s3://[^/\s]+)\S* )?An error occurred \((ExpiredToken|ExpiredTokenException|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClientException)\)(?: when calling the (\w+) operation)?`)

// vaultRequest matches the request that Vault refuses, with its path.
var vaultRequest = lazyregexp.New(`^URL: \w+ https?://[^/\s]+/v1/(\S+)$`)

// askedVault is the clue of a request that Vault does not allow: its log has the path in a line of its own.
func askedVault(q *Clue, c *Container) Remedy {
	path := ""
	for _, line := range q.Log {
		if found := vaultRequest.Group(strings.TrimSpace(line)); found != "" {
			path = found
		}
	}
	of, _ := q.server(c)
	switch {
	case path == "" || !strings.Contains(q.Words, "permission denied"):
		return Remedy{}
	case strings.HasSuffix(path, "/login"):
		return Remedy{Text: "have the role of Vault with which the program logs in at " + path + " allow ServiceAccount " + c.account() + " of namespace " + c.Namespace +
			" (bound_service_account_names and bound_service_account_namespaces), and Vault review tokens of this cluster", Server: of.host}
	}
	return Remedy{Text: "allow " + path + " in a policy of the Vault role with which the program logs in, or check whether its token is still valid", Server: of.host}
}

// ofAccess returns the remedy for an error about credentials or rights of which a phrase, or the status of the response, says more.
func (e *KnownError) ofAccess(q *Clue, c *Container) (none Remedy) {
	if !slices.Contains([]ErrorKind{ErrorForbidden, ErrorAuthentication}, e.Kind) || e.Access != (Access{}) {
		return none
	}
	with := &Clue{Words: q.Words + "; " + e.Subject, Log: q.Log}
	if out := askedAccess(with, c); out.Text != "" {
		return out
	}
	if e.Subject == "" || e.Subject == vagueForbidden {
		return responseStatus(with, c)
	}
	return none
}

// ofToken reports whether the error is about the API server, which the program asks at its own pod or without a token.
func (e *KnownError) ofToken(c *Container) bool {
	return e.APIServer && ownPod.MatchString(e.Subject) || c.NoToken && (e.Access.User == anonymous || strings.HasPrefix(e.Subject, tokenDir))
}
