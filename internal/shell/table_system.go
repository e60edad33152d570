package shell

const curlFlags = `-# -#0123469aBfgGiIjJklLnNOpqRsSvVZ -o=,--output=:write -O:mod --remote-name:mod --remote-name-all:mod -J --remote-header-name:mod --output-dir=:write --create-dirs -X=,--request= -H=,--header= -A=,--user-agent= -e=,--referer= -d=,--data=,--data-raw=,--data-ascii=:upload --data-binary=:upload
	--data-urlencode=:upload --json=:upload -F=,--form=:upload --form-string= -T=,--upload-file=:send -b=,--cookie= -c=,--cookie-jar=:write -D=,--dump-header=:write -w=,--write-out= -m=,--max-time= --connect-timeout= --retry= --retry-delay= --retry-max-time= --retry-all-errors --retry-connrefused -u=,--user= -x=,--proxy=:danger
	-K=,--config=:danger -E=,--cert=:read --key=:read --cacert=:read --capath= -C=,--continue-at= -r=,--range= -y= -Y= -z= -Q=:danger -t= -U= -P= --resolve= --connect-to=:danger --unix-socket=:danger --abstract-unix-socket=:danger --interface= --limit-rate= --max-redirs= --max-filesize= --url= --compressed
	--silent --show-error --location --location-trusted --fail --fail-with-body --fail-early --head --include --insecure --verbose --get --globoff --parallel --no-buffer --no-progress-meter --progress-bar --http1.1 --http2 --http3 --ipv4 --ipv6 --tlsv1.2 --tlsv1.3 --proto= --proto-redir= --path-as-is --raw --tcp-nodelay --digest --basic --anyauth --ntlm --negotiate
	--oauth2-bearer= --aws-sigv4= -n,--netrc:danger --netrc-file=:danger --netrc-optional:danger --trace=:write --trace-ascii=:write --trace-time --stderr=:write --libcurl=:write --etag-save=:write --etag-compare=:read --hsts=:write --alt-svc=:write --ssl-reqd --ciphers= --dns-servers=:danger --doh-url=:danger --socks5=:danger --preproxy=:danger --variable=:ask --expand-url= --styled-output --no-styled-output --url-query= -h --version --engine=:run --random-file= --egd-file= --mail-from= --mail-rcpt= --rate= --skip-existing --remove-on-error --no-clobber --next -:`

// netTools contact other hosts.
func netTools() []row {
	shellOn := "a shell on another host"
	return []row{
		{names: "curl", does: Network, args: host, flags: curlFlags, check: checkURLs, why: "contacts another host"},
		{names: "wget wget2", does: Network, args: host, check: checkURLs, why: "contacts another host", flags: "-46bcdEFHkKLmNpqrRSvVx -O=,--output-document=:write -P=,--directory-prefix=:write -o=,--output-file=:write -a=,--append-output=:write -i=,--input-file=:read -e=,--execute=:run -U=,--user-agent= -t=,--tries= -T=,--timeout= -w=,--wait= -Q=,--quota= -A=,--accept= -R=,--reject= -D=,--domains= -I= -X= -l=,--level= -nc -nv -nd -nH -np -B= --quiet --no-verbose --verbose --continue --spider --timestamping --no-clobber --no-check-certificate --header= --post-data= --post-file=:send --body-data= --body-file=:send --method= --user= --password= --ask-password --use-askpass=:run --config=:run --load-cookies=:read --save-cookies=:write --keep-session-cookies --max-redirect= --mirror --recursive --no-parent --convert-links --page-requisites --adjust-extension --cut-dirs= --no-directories --no-host-directories --content-disposition --restrict-file-names= --limit-rate= --random-wait --referer= --save-headers --ca-certificate=:read --certificate=:read --private-key=:read --show-progress --progress= --inet4-only --inet6-only --server-response --no-proxy --https-only --secure-protocol= --warc-file=:write --rejected-log=:write --hsts-file=:write --delete-after --dns-servers=:danger --bind-address= --compression= --background"},
		{names: "http https xh httpie curlie", does: Network, args: host, flags: "-fjvhbSIdpcq -a= -A= -o=,--output=:write --download --follow --form --json --verbose --headers --body --print= --pretty= --style= --check-status --timeout= --verify= --session=:danger --session-read-only=:danger --ignore-stdin --offline --auth= --auth-type= --proxy=:danger --cert=:read", why: "contacts another host"},
		{names: "aria2c axel lynx links w3m elinks youtube-dl yt-dlp ftp lftp ncftp tftp sftp-server telnet nc ncat netcat socat whois finger rwho irc irssi", does: Network, args: itself, why: "contacts another host", check: checkNetExtra},
		{names: "ping ping6 fping traceroute traceroute6 tracepath tracepath6 mtr arping dig host nslookup drill delv kdig resolvectl systemd-resolve avahi-resolve nmap masscan zmap nping hping3 iperf iperf3 ab wrk hey vegeta siege websocat grpcurl wscat", does: Network, args: itself, why: "contacts another host", check: checkNetExtra},
		{names: "ssh mosh autossh sshpass rsh rlogin rexec", does: Dangerous, args: itself, why: shellOn, check: checkSSH},
		{names: "scp sftp", does: Network, args: itself, why: "copies to or from another host", check: checkSCP},
		{names: "mail mailx mutt sendmail msmtp swaks", does: Dangerous, args: itself, why: "sends mail"},
		{names: "rclone restic borg duplicity unison syncthing", does: Dangerous, args: itself, why: "copies files to other hosts"},
		{names: "sshfs sshuttle ngrok cloudflared localtunnel tailscale wg wg-quick openvpn chisel frpc stunnel proxychains proxychains4 torsocks tor", does: Dangerous, args: itself, why: "opens a way to other hosts"},
		{names: "getent", does: Network, args: itself, why: "looks names up", check: checkGetent},
		{names: "ssh-keyscan", does: Network, args: itself, why: "contacts another host"},
		{names: "ssh-copy-id ssh-add ssh-agent ssh-keygen", does: Dangerous, args: itself, why: "handles keys", check: checkKeygen},
		{names: "hostname dnsdomainname domainname nisdomainname", args: noArgs, flags: "-adfiIsAy --all-ip-addresses --fqdn --short --domain --ip-address -F=:danger -b:danger", check: checkHostname},
		{names: "tcpdump tshark wireshark dumpcap ngrep", does: Dangerous, args: itself, why: "listens to the network"},
		{names: "gh", does: Network, args: itself, why: "contacts an API with a stored token", check: checkDangerWords},
		{names: "glab hub tea doctl heroku flyctl fly railway render supabase stripe sentry-cli linear jira", does: Network, args: itself, why: "contacts an API with stored credentials", check: checkDangerWords},
		{names: "ollama llm aider claude codex gemini opencode goose crush copilot cursor ikigai", does: Dangerous, args: itself, why: "starts another agent or model"},
	}
}

// cloud are programs that steer machines elsewhere or containers here.
func cloud() []row {
	return []row{
		{names: "aws gcloud gsutil bq az oci ibmcloud aliyun s3cmd s5cmd mc eksctl eb sam", does: Network, args: itself, why: "contacts an API with stored credentials", check: checkCloud},
		{names: "kubectl oc k9s helm kustomize argocd flux istioctl linkerd k3s minikube kind velero", does: Network, args: itself, why: "contacts a cluster", check: checkCloud},
		{names: "terraform tofu terragrunt pulumi packer vault consul nomad vagrant ansible ansible-playbook ansible-galaxy ansible-vault salt puppet chef knife", does: Network, args: itself, why: "steers other machines", check: checkTerraform},
		{names: "docker podman nerdctl buildah skopeo ctr crictl lxc lxd multipass colima limactl docker-compose podman-compose", does: Dangerous, args: itself, check: checkDocker, why: "acts through the container service"},
		{names: "qemu-system-x86_64 virsh VBoxManage virt-install incus", does: Dangerous, args: itself, why: "starts machines"},
	}
}

// databases are clients whose statements the tables do not read.
func databases() []row {
	return []row{
		{names: "psql pg_dump pg_restore pg_dumpall createdb dropdb pgbench mysql mysqldump mariadb mysqladmin redis-cli mongosh mongo mongodump mongorestore cqlsh influx clickhouse clickhouse-client sqlcmd mssql-cli usql pgcli mycli etcdctl memcached-tool kcat kafka-topics rabbitmqctl", does: Network, args: itself, why: "contacts a database", check: checkDatabase},
		{names: "sqlite3 duckdb litecli", does: MustAsk, args: itself, why: "statements are not judged", check: checkDatabase},
		{names: "redis-server mysqld postgres pg_ctl mongod initdb", does: Dangerous, args: itself, why: "starts a service"},
		{names: "alembic flyway liquibase prisma knex sequelize typeorm migrate goose-db dbmate sqlx diesel atlas", does: MustAsk, args: itself, why: "changes a database"},
	}
}

// crypto handle keys and secrets.
func crypto() []row {
	return []row{
		{names: "gpg gpg2 gpgv gpg-agent gpgconf gpgsm gpg-connect-agent", does: Dangerous, args: itself, why: "handles keys", check: checkGPG},
		{names: "openssl", does: MustAsk, args: itself, why: "handles keys or contacts hosts", check: checkOpenSSL},
		{names: "age rage age-keygen sops pass gopass op bw lpass keepassxc-cli secret-tool security keyctl kwallet-query keyring step certbot mkcert cfssl", does: Dangerous, args: itself, why: "handles keys or passwords"},
		{names: "pwgen apg diceware", args: itself},
	}
}

// systemShow are programs that look at the machine.
func systemShow() []row {
	return []row{
		{names: "ps pgrep pidof pstree", args: itself, check: checkPs},
		{names: "top htop btop atop glances iotop", args: itself},
		{names: "free vmstat iostat mpstat sar pidstat lscpu lsblk lsusb lspci lsmem lsmod lsns lsipc lslocks lsb_release lshw dmidecode sensors hwinfo inxi neofetch fastfetch screenfetch sw_vers system_profiler hostid cpuid slabtop tload", args: itself},
		{names: "lsof fuser", args: itself, check: checkFuser},
		{names: "netstat ss", args: itself, check: checkSs},
		{names: "findmnt mountpoint runlevel", args: itself},
		{names: "journalctl dmesg", args: itself, check: checkJournal},
		{names: "ip ifconfig route arp bridge nmcli iwconfig ethtool tc iw", does: Dangerous, args: itself, why: "may change the network", check: checkIP},
		{names: "sysctl", does: Dangerous, args: itself, why: "may change the kernel", check: checkSysctl},
		{names: "systemctl service rc-service initctl launchctl loginctl hostnamectl timedatectl machinectl", does: Dangerous, args: itself, why: "changes services", check: checkServices},
		{names: "stty reset setterm resize", args: itself, does: MustAsk, why: "changes the terminal"},
		{names: "xclip xsel pbcopy pbpaste wl-copy wl-paste clip notify-send say espeak logger wall write mesg beep", does: MustAsk, args: itself, why: "reaches outside the process"},
		{names: "nvidia-smi rocm-smi clinfo vulkaninfo glxinfo", does: MustAsk, args: itself, why: "may change the device"},
		{names: "ipcs lsipc", args: itself},
		{names: "cowsay figlet lolcat toilet fortune banner", args: itself},
	}
}

// systemChange are programs that change the machine, its users or its processes.
func systemChange() []row {
	return []row{
		{names: "kill killall pkill killall5 xkill skill snice renice tkill", does: Dangerous, args: itself, why: "signals processes", check: checkKill},
		{names: "reboot shutdown poweroff halt init telinit rtcwake pm-suspend", does: Dangerous, args: itself, why: "stops the machine"},
		{names: "mount", does: Dangerous, args: itself, why: "changes mounts", check: checkMount},
		{names: "umount losetup swapon swapoff fusermount cryptsetup lvcreate lvremove vgremove pvcreate mdadm zfs zpool btrfs udisksctl pivot_root switch_root", does: Dangerous, args: itself, why: "changes mounts or disks"},
		{names: "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mke2fs mkswap fdisk sfdisk gdisk cfdisk parted wipefs fsck e2fsck resize2fs tune2fs hdparm blkdiscard badblocks debugfs dumpe2fs xfs_repair ddrescue partprobe blkid format diskutil", does: Dangerous, args: itself, why: "changes disks"},
		{names: "insmod rmmod modprobe kexec kmod", does: Dangerous, args: itself, why: "changes the kernel"},
		{names: "iptables ip6tables nft ufw firewall-cmd ebtables arptables ipset iptables-restore iptables-save pfctl", does: Dangerous, args: itself, why: "changes the firewall"},
		{names: "useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup delgroup passwd chpasswd chage chsh chfn gpasswd vipw vigr visudo newusers pwck login faillock", does: Dangerous, args: itself, why: "changes users"},
		{names: "hwclock ntpdate chronyc ntpd adjtimex", does: Dangerous, args: itself, why: "sets the clock"},
		{names: "setenforce semanage restorecon aa-enforce aa-complain apparmor_parser auditctl", does: Dangerous, args: itself, why: "changes the security of the system"},
		{names: "grub-install efibootmgr dracut mkinitcpio update-initramfs bootctl", does: Dangerous, args: itself, why: "changes how the machine starts"},
		{names: "ipcrm ipcmk", does: Dangerous, args: itself, why: "changes shared memory"},
		{names: "sshd nginx apache2 httpd caddy haproxy dockerd containerd cron crond rsyslogd Xorg Xvfb", does: Dangerous, args: itself, why: "starts a service"},
		{names: "defaults dscl scutil spctl csrutil pmset networksetup systemsetup xattr tccutil reg regedit sc schtasks net netsh wmic bcdedit", does: Dangerous, args: itself, why: "changes the system"},
		{names: "sudoedit sudoreplay gosu su-exec dzdo run0 setuidgid chpst s6-setuidgid newuidmap newgidmap", does: Dangerous, args: itself, why: "runs with other rights", check: checkAnyCommand},
		{names: "dmsetup nbd-client sgdisk partx chcpu chmem zramctl smartctl nvme flashrom fwupdmgr ipmitool eject quotaon quotaoff edquota setquota cdrecord growisofs", does: Dangerous, args: itself, why: "changes devices"},
		{names: "update-rc.d chkconfig insserv xinetd inetd atd incrontab fcrontab systemd-tmpfiles rfkill dhclient dhcpcd pppd brctl vconfig wpa_cli iwctl nmtui", does: Dangerous, args: itself, why: "changes services or the network"},
		{names: "gsettings dconf xdg-mime xdg-settings desktop-file-install update-desktop-database setsebool grubby kwriteconfig5 xhost xdotool ydotool wmctrl", does: Dangerous, args: itself, why: "changes settings of the desktop"},
		{names: "pm2 supervisorctl supervisord forever foreman monit runit sv s6-svc", does: Dangerous, args: itself, why: "changes services"},
		{names: "xterm gnome-terminal konsole alacritty kitty x-terminal-emulator wezterm run-parts logsave asciinema", does: Dangerous, args: itself, why: "starts another program", check: checkAnyCommand},
		{names: "gcore criu gdbserver", does: Dangerous, args: itself, why: "reads or controls other processes"},
	}
}

// packagers install software for the whole machine.
func packagers() []row {
	return []row{
		{names: "apt apt-get aptitude apt-cache apt-key apt-mark add-apt-repository dnf yum zypper pacman yay paru apk emerge xbps-install pkg pkgin port brew snap flatpak nix nix-env nix-shell nix-build nix-store guix choco scoop winget mas tlmgr cargo-install softwareupdate installer", does: Dangerous, args: itself, why: "installs software for the machine", check: checkPackager},
		{names: "dpkg rpm dpkg-query dpkg-deb", does: Dangerous, args: itself, why: "installs software for the machine", check: checkDpkg},
		{names: "alternatives dpkg-reconfigure debconf-set-selections pam-auth-update", does: Dangerous, args: itself, why: "changes the system"},
	}
}

// editors run commands of their own.
func editors() []row {
	return []row{
		{names: "vi vim nvim view vimdiff gvim emacs emacsclient nano pico micro helix hx kak joe mcedit ne code codium subl gedit kate zed idea", does: MustAsk, args: itself, why: "an editor runs commands", check: checkEditor},
		{names: "mc ranger nnn lf vifm yazi", does: MustAsk, args: itself, why: "an interactive program"},
	}
}
