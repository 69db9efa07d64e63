package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// accessAsks are phrases of tools that change clusters (kubectl, Helm), and of servers that do not allow what a program asks for.
var accessAsks = []ask{
	{lazyregexp.New(`(server is currently unable to handle the request|unable to return a response in the time allotted|etcdserver: (?:request timed out|leader changed|no leader)|error on the server \("[^"]*"\) has prevented the request|https://[^"]*/apis?/\S*": (?:Service Unavailable|stream error.*|(?:unexpected )?EOF)|http2: client connection lost)`), "try again once {API server} answers: its control plane or etcd was overloaded or restarted; if only one kind of resource is concerned, look at what serves that (kubectl get apiservices shows it as not available)"},
	{lazyregexp.New(`(server has received too many requests|client rate limiter Wait returned)`), "have the program send fewer requests to {API server}, or wait longer for them: that limits them (API Priority and Fairness), or the program's own client does (its QPS and burst)"},
	{lazyregexp.New(`(the object has been modified)`), "have the program read the object again before it changes it, or use kubectl apply or patch: something else changed it in the meantime; another attempt may do"},
	{lazyregexp.New(`(Request entity too large: limit is \d+|Too long: must have at most 1048576 bytes)`), "make the object smaller, as Kubernetes stores no larger ones; the Secret of a Helm release has its whole chart and values: leave files out of the chart (.helmignore), or split it"},
	{lazyregexp.New(`conflict with "([^"]+)"(?: with subresource "[^"]+")? using [^:]+: (\S+)`), "leave {2} to {1}, which manages that field, out of what the program applies, or have the program take it over (kubectl apply --server-side --force-conflicts)"},
	{lazyregexp.New(`(unable to load in-cluster configuration|Service host/port is not set|Invalid kube-config file|invalid configuration: no configuration has been provided|KUBERNETES_MASTER environment variable)`), "give the program a kubeconfig (a Secret, and its path in KUBECONFIG), or have it use the token of ServiceAccount {account}: it found neither a kubeconfig nor the token with variables KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which sudo, su and env -i drop"},
	{lazyregexp.New(`(?i)error (?:validating|when \w+ing) \\?"([^"\\]+)\\?".* unknown field \\?"([^"\\]+)`), "correct {2} in {1}, or leave it out: the API of the cluster, in its version, has no such field (kubectl explain shows those that it has)"},
	{lazyregexp.New(`(the lock file \(\S+\) is out of sync|missing in charts/ directory)`), "run helm dependency update for the chart, and commit its Chart.lock; or helm dependency build in the script of container {container}, before it uses the chart"},
	{lazyregexp.New(`looks like "(\S+)" is not a valid chart repository`), "correct the address of the chart repository {1}, which has no index.yaml there: it may have moved, or be in a registry by now (oci://)"},
	{lazyregexp.New(`chart requires kubeVersion: (\S+) which is incompatible with Kubernetes (\S+)`), "install a version of the chart for Kubernetes {2} (helm search repo --versions), or upgrade the cluster: this one needs {1}"},
	{lazyregexp.New(`job (\S+) failed: (?:BackoffLimitExceeded|DeadlineExceeded)`), "look at Job {1}, the hook that failed, and at the log of its pod (kubectl batchjob why {1}, in the namespace of the release): unless its hook-delete-policy has hook-failed, Helm keeps it"},
	{lazyregexp.New(`(CA bundle is not injected yet|webhook deployment is not ready yet)`), "look at the pods of cert-manager-webhook and cert-manager-cainjector, for which this check waits (kubectl get pods, in the namespace of cert-manager)"},
	{lazyregexp.New(`(CONNECT tunnel failed|from proxy after CONNECT|Proxy Authentication Required)`), "have the proxy in HTTPS_PROXY of container {container} let the program through, with user and password in its URL if it asks for them (407), or leave the host out of it (NO_PROXY)"},
	{lazyregexp.New(`(pull access denied|access to the resource is denied|(?:/v2/\S+/(?:manifests|blobs)/|blob \S+ exists in ).*(?i:unauthorized|denied|authentication required))`), "correct the name of the image, as registries deny what does not exist, too, or give the program credentials of the registry: a Secret of type kubernetes.io/dockerconfigjson, as config.json in the folder that DOCKER_CONFIG names ({credentials})"},
	{lazyregexp.New(`(413 Request Entity Too Large)`), "raise the largest size of a request at {server}, or at the proxy in front of it (nginx.ingress.kubernetes.io/proxy-body-size of ingress-nginx)"},
	{lazyregexp.New(`('overlay' is not supported over overlayfs|mount \S*/containers/storage/overlay:)`), "set STORAGE_DRIVER=vfs in env of container {container}, or mount an emptyDir at /var/lib/containers: the driver overlay does not work on the file system of a container"},
	{lazyregexp.New(`(removing var to make way for new symlink)`), "set automountServiceAccountToken: false in the pod template, unless the build needs the token: kaniko cannot replace /var/run of its own container, where the token is mounted, by the link of the base image"},
	{lazyregexp.New(`(error building stage: failed to execute command|^ERROR: failed to solve: process ".*" did not complete|building at STEP "RUN)`), "correct the step of the Dockerfile that fails: its command and its own output are above in the log"},
	{lazyregexp.New(`failed to (?:calculate checksum of ref|compute cache key).*"(/[^"]+)": not found|COPY failed: .*?stat (\S+?):`), "have the context of the build contain {1}, which the Dockerfile copies: correct its path, the context in {template}, or .dockerignore"},
	{lazyregexp.New(`(resolving dockerfile path|unknown blob/file prefix)`), "correct --context and --dockerfile in the args of container {container}: the context is a URL (dir://, git://, s3://, gs://, tar://), and the Dockerfile a path in it"},
	{lazyregexp.New(`(No OpenIDConnect provider found)`), "create the IAM OIDC provider for the issuer of this cluster in that account (eksctl utils associate-iam-oidc-provider --approve), or give ServiceAccount {account} its role by EKS Pod Identity"},
	{lazyregexp.New(`(ExpiredToken|RequestExpired|token included in the request is expired|token is expired|token has expired)`), "renew the token of the program ({credentials}): one from a Secret expires, unlike the credentials that a ServiceAccount with a role in the cloud gets"},
	{lazyregexp.New(`Authentication failed for '(https?://[^']+)'`), "give git a user name and an access token that may use {1} ({credentials}), in place of a password, which GitHub, and GitLab with 2FA, do not accept"},
	{lazyregexp.New(`(unable to auto-detect email address|[Pp]lease tell me who you are)`), "set GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL in env of container {container}, or user.name and user.email with git config in its script"},
	{lazyregexp.New(`(would be overwritten by (?:merge|checkout)|Not possible to fast-forward|need to specify how to reconcile)`), "have the script take what the server has (git fetch, git reset --hard @{u}), if its clone has nothing to keep, or clone anew in each run"},
	{lazyregexp.New(`'(\w+)' is undefined`), "give the play variable {1}: in the inventory, group_vars, or with -e in the command of container {container}"},
	{lazyregexp.New(`(asked for the client to provide credentials)`), "check the kubeconfig with which the program asks {API server}, or else the token of ServiceAccount {account}: whether it is mounted, and neither expired nor from another cluster"},
	{lazyregexp.New(`(Missing sudo password|sudo: a password is required|no vault secrets)`), "give Ansible the password that it needs: for sudo (ansible_become_password, from a vault or Secret), or of its vault (a file from a Secret, named by --vault-password-file or ANSIBLE_VAULT_PASSWORD_FILE)"},
	{lazyregexp.New(`(leaves us with no hosts to target)`), "correct the inventory (-i), --limit, or the hosts of the play in {template}: nothing matches"},
	{lazyregexp.New(`(no matching (?:host key type|key exchange method|cipher|MAC) found)`), "allow ssh in container {container} what the server offers, which its log has (for ssh-rsa, -o HostKeyAlgorithms=+ssh-rsa -o PubkeyAcceptedAlgorithms=+ssh-rsa), or update that server"},
	{lazyregexp.New(`([ks][es][xh]_exchange_identification)`), "look at the log of the SSH server, which ended the connection before the login: too many at a time (MaxStartups), a block of the address (fail2ban), or another service at that port"},
	{lazyregexp.New(`(Failure writing output to destination|Failed writing body)`), "check whether the folder to which curl writes exists, has space, and is writable for its user{user}; after a pipe, whether the next program ended first"},
	{lazyregexp.New(`running programs for component "([^"]+)"|need (kubectl or kubelet) in PATH`), "run kube-bench on a node that has the {1} (nodeSelector, tolerations), with hostPID: true and the node's folders mounted; managed control planes cannot be checked"},
	{lazyregexp.New(`Failed to renew certificate (\S+)`), "find out why the certificate authority cannot check {1}, which the log says for each name: DNS and port 80 from the internet (HTTP-01), or the record that the DNS plugin writes (its credentials: {credentials})"},
	{lazyregexp.New(`(at least one key has to be successful|Failed to get the data key)`), "give sops a key with which the file was encrypted: that of age (SOPS_AGE_KEY_FILE, from a Secret), of GPG, or rights at the KMS ({credentials})"},
	{lazyregexp.New(`\b((?:nodes|persistentvolumes|[a-z]+classes|clusterrole(?:binding)?s|[a-z]+webhookconfigurations|apiservices)(?:\.[a-z0-9.-]+)?) \\?"([^"\\]+)\\?" not found`), "correct the name {2} ({1}) in {template}, or create it before: the cluster has none"},
	{lazyregexp.New(`(violate the pod's disruption budget|when evicting pods/.*global timeout reached)`), "find the PodDisruptionBudget that allows no eviction of the pods which the log names (kubectl get pdb -A): give these pods another replica, or the budget more room"},
	{lazyregexp.New(`is unauthorized for user \[([^\]]+)\]|no permissions for \[[^\]]*\] and User \[name=([^,\]]+)`), "give user {1} at {server} a role with one of the privileges that the message names, or have the program log in as another: {credentials}"},
	{lazyregexp.New(`(AuthorizationPermissionMismatch|not authorized to perform this operation using this permission|required permissions needed to perform this operation)`), "assign role Storage Blob Data Contributor at the storage account to the identity with which the program logs in: that of ServiceAccount {account}, or of its credentials ({credentials})"},
	{lazyregexp.New(`(AADSTS700\d+: No matching federated identity)`), "give the identity in Entra ID a federated credential for the issuer of the cluster and subject system:serviceaccount:{namespace}:{account}"},
	{lazyregexp.New(`checking push permission for "([^"]+)"`), "give container {container} credentials that may push {1}: a Secret of type kubernetes.io/dockerconfigjson, as config.json in /kaniko/.docker (now: {credentials})"},
	{lazyregexp.New(`not authorized (?:for \w+ on ([\w.$-]+)|on ([\w.$-]+) to execute command)`), "grant the program's user at {server} a role that allows this on {1} (of MongoDB's own, backup is for mongodump, clusterMonitor for statuses), or have the program log in as a user that has it: {credentials}"},
	{lazyregexp.New(`(the server could not find the requested resource)`), "use a version of the program or its chart that fits the cluster: the one in image {image} asks for an API that this cluster does not serve (kubectl api-versions lists those that it does); or install what defines it, if that is a CustomResourceDefinition"},
	{lazyregexp.New(`(?i)(migration checksum mismatch|checksum mismatch for migration)`), "use an image with the migration as it was when the database got it, or, if its change does no harm, accept it (flyway repair, liquibase clear-checksums): until then, a rerun fails again"},
	{lazyregexp.New(`Dag '?([\w.-]+)'? could not be found`), "have the DAG folder of this pod contain DAG {1} (git-sync, a volume, or image {image}), and its file load without an error (airflow dags list-import-errors)"},
	{lazyregexp.New(`(maintenance must be run by designated user)`), "make the user who runs the maintenance its owner in the repository (kopia maintenance set --owner USER@HOST), which names another one"},
	{lazyregexp.New(`could not read (?:Username|Password) for '([^']+)'`), "give git credentials for {1} ({credentials}), or correct the address of the repository: git is asked for a user name if the repository is private or does not exist"},
	{lazyregexp.New(`(InvalidAccessKeyId|Access Key Id you provided does not exist)`), "check the access key of the program ({credentials}), and the server that it asks: S3 of AWS does not know the key of another provider, whose storage needs its address (--endpoint-url, or variable AWS_ENDPOINT_URL)"},
	{lazyregexp.New(`(\w+ request failed with 403|(?:Unable|Failed|failed|unable) to .*(?:Access Denied|Insufficient permissions to access))`), "have the policy of {object} allow the program's key to list, read and write there, and check key, bucket, endpoint and region ({credentials})"},
	{lazyregexp.New(`(open missing file '[^']*(?:backup|archive)\.info|unable to load info file)`), "create the stanza of pgBackRest first (pgbackrest stanza-create), or correct its name or the repository in {template}"},
	{lazyregexp.New(`namespaces \\?"([^"\\]+)\\?" not found`), "create namespace {1} before, or correct its name in {template}"},
	{lazyregexp.New(`unsupported protocol scheme "([^"]*)"`), "give the program the whole URL of its server, with http:// or https://: {addresses}"},
	{lazyregexp.New(`(?:Failed to (?:copy|sync|ls|lsd)|NOTICE|rclone).*(: directory not found$)`), "correct the bucket or the path of {object}, or create what the program copies from it"},
	{lazyregexp.New(`(s3:///|gs:///|Invalid bucket name "")`), "give the program the name of the bucket: the variable that should have it is empty, or missing in env of container {container}"},
	{lazyregexp.New(`push of (\S+) rejected: (?:fetch first|non-fast-forward)`), "have the script take over what others have pushed to the branch (git pull --rebase) before its own push: another run or a person pushed first"},
	{lazyregexp.New(`(push of \S+ rejected: .+|not allowed to push code to protected branches)`), "have the server accept the push, by the rules of the branch there, or by more rights for the user or token of the program: {credentials}"},
	{lazyregexp.New(`Permission to (\S+?)(?:\.git)? denied to (\S*\w\]?)`), "let {2} push to {1}, or give the program a token that may: {credentials}"},
	{lazyregexp.New(`(nothing to commit|nothing added to commit)`), "have the script commit only what has changed (git diff --cached --quiet || git commit …): git commit ends with code 1 if nothing has"},
	{lazyregexp.New(`to database '([^']+)' when using LOCK TABLES`), "dump database {1} without locks (mysqldump --single-transaction --skip-lock-tables in the command of container {container}), or grant LOCK TABLES on it to the program's user at {server}"},
	{lazyregexp.New(`(?i)(column_statistics)`), "give mysqldump in container {container} option --column-statistics=0, as its server has no such table, or use an image with the server's own mysqldump; it is {image}"},
	{lazyregexp.New(`user specified as a definer \(([^)]+)\)`), "create user {1} at {server}, or give the views, triggers and procedures that name it as their DEFINER another one"},
	{lazyregexp.New(`(appears to be a text format dump)`), "restore the file with psql -f in the command of container {container}: it is plain SQL, which pg_restore does not read"},
	{lazyregexp.New(`(Peer authentication failed)`), "have the program connect by TCP with a password (-h localhost), or as the system user of the same name: through its socket, the server accepts no other"},
	{lazyregexp.New(`(Multiple head revisions|Conflicting migrations detected)`), "merge the branches of the migrations (alembic merge heads, manage.py makemigrations --merge), and build image {image} with the result"},
	{lazyregexp.New(`(cannot run inside a transaction block)`), "have the tool run this migration outside of a transaction (goose: -- +goose NO TRANSACTION; Rails: disable_ddl_transaction!; Django: atomic = False; Flyway: executeInTransaction=false)"},
	{lazyregexp.New(`(deployment) "([^"]+)" exceeded its progress deadline|[Ww]aiting for (deployment|statefulset|daemon set) "([^"]+)"`), "look at the pods of {1} {2} {in namespace}, which do not become ready (kubectl get pods), or give it more time (progressDeadlineSeconds of a Deployment, --timeout)"},
	{lazyregexp.New(`OCI runtime exec failed.*exec: \\*"([^"\\]+)\\*"`), "use an image with {1} for the container of the other pod in which the program executes its command (kubectl cp needs tar there), or another command"},
	{lazyregexp.New(`(difference between the request time|RequestTimeTooSkewed)`), "correct the clock of the pod's node or that of the storage server (NTP): they differ too much for the server to accept the signature"},
	{lazyregexp.New(`(AADSTS70002(?:15|22))`), "create a new client secret for the app in Entra ID, and give the program that: {credentials}"},
	{lazyregexp.New(`file has vanished: "([^"]+)"|tar: (\S+): File removed before we read it|error in Stream: .* src: file: (\S+)`), "look whether {1} is still there: if it was removed or changed while the program copied it, leave such files out, copy at a quiet time, or back up a snapshot of the volume"},
	{lazyregexp.New(`x509: (certificate signed by unknown authority)`), "give the program the CA that signed the certificate of its server: it may have it from {configuration}"},
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
			" (bound_service_account_names and bound_service_account_namespaces), and Vault review tokens of this cluster", Server: of.host}
	}
	who := cmp.Or(prefixed("the token of the program, which it has from ", c.credentials()), "the Vault role with which ServiceAccount "+c.account()+" logs in")
	return Remedy{Text: fmt.Sprintf("allow %s (%s) in a policy of %s, or check whether its token is still valid", m[2], cmp.Or(vaultVerbs[m[1]], m[1]), who), Server: of.host}
}

// vaultVerbs are the capabilities of Vault's policies, by the methods of requests.
var vaultVerbs = map[string]string{"GET": "read, or list", "LIST": "list", "PUT": "create and update", "POST": "create and update", "DELETE": "delete"}

// ofAccess returns the remedy for an error about credentials or rights of which a phrase, or the status of the response, says more.
func (e *KnownError) ofAccess(q *Clue, c *Container) (none Remedy) {
	isAccess := slices.Contains([]ErrorKind{ErrorForbidden, ErrorAuthentication}, e.Kind)
	if !isAccess && !slices.Contains([]ErrorKind{ErrorObjectMissing, ErrorCommandNotFound, ErrorReadOnly, ErrorFileMissing}, e.Kind) || e.Access != (Access{}) {
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

// ofToken reports whether the error is about the API server, which the program asks at its own pod or without a token.
func (e *KnownError) ofToken(c *Container) bool {
	return e.APIServer && ownPod.MatchString(e.Subject) || c.NoToken && (e.Access.User == anonymous || strings.HasPrefix(e.Subject, tokenDir))
}
