# Sourced: `install_account KUBECONFIG FILE` applies config/default to a cluster, and writes
# a kubeconfig with a token of the controller's ServiceAccount, good for a year. A controller
# that runs with it has exactly the permissions of an installed one.
install_account() {
	(
		export KUBECONFIG="$1"
		kubectl apply -k config/default >/dev/null
		token=$(kubectl create token batchjob-controller -n batchjob-system --duration 8760h)
		umask 077
		kubectl config view --raw --minify --flatten >"$2"
		export KUBECONFIG="$2"
		user=$(kubectl config view -o 'jsonpath={.users[0].name}')
		kubectl config unset "users.$user" >/dev/null
		kubectl config set-credentials "$user" --token "$token" >/dev/null
		kubectl config set-context --current --namespace batchjob-system >/dev/null
	)
}
