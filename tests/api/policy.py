"""Who may do what, written by hand: it says the same as the code only if both are right."""

from __future__ import annotations

from ipucloud.identity.roles import Permission, Role


def roles(row: str) -> frozenset[Role]:
    """Of a row of the table below, in which every role has its column."""
    return frozenset(Role(word) for word in row.split() if word.strip("-"))


# fmt: off
ROLES: dict[Permission, frozenset[Role]] = {
    Permission.CATALOGUE_READ:   roles("viewer operator billing owner admin support payer"),
    Permission.PROJECT_READ:     roles("viewer operator billing owner admin support -----"),
    Permission.CLUSTER_READ:     roles("viewer operator billing owner admin support -----"),
    Permission.CLUSTER_WRITE:    roles("------ operator ------- owner admin ------- -----"),
    Permission.KEY_WRITE:        roles("------ operator ------- owner admin ------- -----"),
    Permission.TOKEN_READ:       roles("------ -------- ------- owner admin support -----"),
    Permission.TOKEN_WRITE:      roles("------ -------- ------- owner admin ------- -----"),
    Permission.MEMBER_READ:      roles("viewer operator billing owner admin support -----"),
    Permission.MEMBER_WRITE:     roles("------ -------- ------- owner admin ------- -----"),
    Permission.AUDIT_READ:       roles("------ -------- ------- owner admin support -----"),
    Permission.USAGE_READ:       roles("viewer operator billing owner admin support -----"),
    Permission.BILLING_READ:     roles("------ -------- billing owner admin support -----"),
    Permission.BILLING_WRITE:    roles("------ -------- billing owner admin ------- -----"),
    Permission.BUDGET_WRITE:     roles("------ -------- billing owner admin ------- -----"),
    Permission.ACCOUNT_READ:     roles("------ -------- ------- ----- admin support payer"),
    Permission.ACCOUNT_WRITE:    roles("------ -------- ------- ----- admin ------- payer"),
    Permission.PLATFORM_READ:    roles("------ -------- ------- ----- admin support -----"),
    Permission.PLATFORM_WRITE:   roles("------ -------- ------- ----- admin ------- -----"),
    Permission.WEBHOOK_WRITE:    roles("------ operator ------- owner admin ------- -----"),
    Permission.S3_WRITE:         roles("------ -------- billing owner admin ------- -----"),
    Permission.PERSON_PROVISION: roles("------ -------- ------- ----- admin ------- -----"),
}
# fmt: on
"""Which roles have a permission."""

_NEEDING: dict[Permission, str] = {
    Permission.CATALOGUE_READ: """
        whoami getSession signOut createSignInLink switchSession getNotifications replaceNotifications
        showDeviceLogin approveDeviceLogin denyDeviceLogin getMe changePassword logOut listIpus listMachineTypes
        listRegions getRegion getRegionCapacity listFlavors getFlavor getRecipe listImages listEventTypes
        listTools listRecipes listPrices listProofKeys
    """,
    Permission.PROJECT_READ: """
        listProjects getProject listSshKeys getSshKey getSshAuthority listQuotas listQuotaRequests
        getQuotaRequest listWebhooks getWebhook listDeliveries getDelivery listEvents listCloudEvents
        streamEvents listS3Connections getS3Connection
    """,
    Permission.CLUSTER_READ: """
        estimateReservation listReservations listAddresses getAddress listVolumes getVolume listSnapshots
        getSnapshot getReservation listClusters estimateCluster getCluster estimateClusterResize
        listPoplarServers listMachines listPartitions getPartition getPartitionConfig getClusterMetrics
        getProjectMetrics getConsole listJobs getJob getJobLog listServices getService getServiceLog
        getServiceMetrics getTopology getVipu listOperations getOperation listFaultReports getFaultReport
    """,
    Permission.CLUSTER_WRITE: """
        createQuotaRequest withdrawQuotaRequest createReservation cancelReservation createAddress updateAddress
        attachAddress detachAddress deleteAddress createVolume updateVolume attachVolume detachVolume
        resizeVolume deleteVolume createSnapshot updateSnapshot deleteSnapshot createCluster updateCluster
        deleteCluster suspendCluster resumeCluster repairCluster rescheduleRepair resizeCluster signSshKey
        rebootCluster powerCycleCluster rebuildCluster createPartition removePartition resetPartition createJob
        stopJob createService deployService rollbackService stopService rotateVipuKey cancelOperation
        reportMachineFault reportServerFault
    """,
    Permission.KEY_WRITE: """
        createSshKey deleteSshKey
    """,
    Permission.TOKEN_READ: """
        listTokens getToken
    """,
    Permission.TOKEN_WRITE: """
        createToken revokeToken rotateToken
    """,
    Permission.MEMBER_READ: """
        listMembers listInvitations
    """,
    Permission.MEMBER_WRITE: """
        updateMember removeMember createInvitation renewInvitation revokeInvitation rotateSshAuthority
    """,
    Permission.AUDIT_READ: """
        listAuditLog
    """,
    Permission.USAGE_READ: """
        getClusterUsage getOverview getProjectUsage getBillingUsage getProjectAccount listCharges
        getProjectReport listProjectPrices getProjectSummary listBudgets getBudget getProjectFunds
    """,
    Permission.BILLING_READ: """
        getExportLimit listExports getExport downloadExport listExportSchedules listInvoices getInvoiceDraft
        getInvoice getInvoiceProof getBalance listCredits
    """,
    Permission.BILLING_WRITE: """
        createExport createExportSchedule deleteExportSchedule topUpWallet
    """,
    Permission.BUDGET_WRITE: """
        createBudget updateBudget deleteBudget
    """,
    Permission.ACCOUNT_READ: """
        listAccountMembers listAccountInvitations streamAccountEvents listBillingAccounts getBillingAccount
        getAccountReport listAccountInvoices getAccountInvoice getAccountInvoiceProof listAccountCredits
        listPayments getAccountSummary listAccountBudgets getAccountBudget getPrepaid listAccountEvents
        listAccountCloudEvents listAccountWebhooks getAccountWebhook listAccountDeliveries getAccountDelivery
        listAccountExports getAccountExport downloadAccountExport getAccountExportLimit
        listAccountExportSchedules listAccountS3Connections getAccountS3Connection getDunning getPaymentMethod
    """,
    Permission.ACCOUNT_WRITE: """
        createAccountWebhook updateAccountWebhook deleteAccountWebhook pingAccountWebhook
        rotateAccountWebhookSecret redeliverToAccount createAccountExport createAccountExportSchedule
        deleteAccountExportSchedule createAccountS3Connection updateAccountS3Connection testAccountS3Connection
        deleteAccountS3Connection
    """,
    Permission.PLATFORM_READ: """
        listPlatformTokens getPlatformToken listAllQuotaRequests getAnyQuotaRequest listAllAuditLog
        streamOperatorEvents listStuck whatIs getRequestTrace getOperatorCapacity listExpectedHardware
        listInventoryFindings listHardwareEvents getMachineHistory getHostHistory listWork listHardwareMachines
        getHardwareMachine listHardwareHosts getHardwareHost listHealthReports getHealthReport listObservations
        listControllers listCleanings listPods getDefragmentation listAllOperations listOperatorEvents
        listOperatorCloudEvents listSiteFindings listSimulatedFaults listFreezes listValidations
        listAllFaultReports getAnyFaultReport
    """,
    Permission.PLATFORM_WRITE: """
        createProject updateProject deleteProject createPlatformToken revokePlatformToken rotatePlatformToken
        removeAccountMember createAccountInvitation renewAccountInvitation revokeAccountInvitation replaceQuotas
        grantQuotaRequest declineQuotaRequest createBillingAccount updateBillingAccount assignProjectAccount
        setExportLimit issueCreditNote grantCredit recordPayment recordRefund reversePayment getSeller updateSeller
        listTaxRates addTaxRate readPriceBook addPrices withdrawPrice listPriceCorrections
        previewPriceCorrection correctPrice createAccountBudget updateAccountBudget deleteAccountBudget
        setPrepaid endPrepaid setAccountExportLimit setDunning endDunning setTopUp endTopUp setPaymentMethod
        removePaymentMethod failPayment replaceExpectedInventory deleteExpectedInventory acceptShownHardware
        requeueWork parkWork startMaintenance drainHardware quarantineHardware returnToService clearHealthReport
        createSimulatedFault endSimulatedFault startFreeze endFreeze forceDeleteCluster validateHardware
        confirmFaultReport dismissFaultReport
    """,
    Permission.WEBHOOK_WRITE: """
        createWebhook updateWebhook deleteWebhook pingWebhook rotateWebhookSecret redeliver
    """,
    Permission.S3_WRITE: """
        createS3Connection updateS3Connection testS3Connection deleteS3Connection
    """,
}
NEEDED = {name: permission for permission, names in _NEEDING.items() for name in names.split()}
"""The permission that an operation needs."""
POLICY = {name: ROLES[permission] for name, permission in NEEDED.items()}
"""Which roles may request an operation."""

_BY_CLUSTER = """
    listClusters getCluster updateCluster deleteCluster suspendCluster resumeCluster repairCluster rescheduleRepair
    resizeCluster estimateClusterResize rebootCluster powerCycleCluster rebuildCluster signSshKey listPoplarServers
    getConsole listMachines reportMachineFault reportServerFault getClusterMetrics getTopology getVipu rotateVipuKey
    listPartitions getPartition getPartitionConfig createPartition removePartition resetPartition
    listJobs getJob getJobLog createJob stopJob
    listServices getService getServiceLog getServiceMetrics createService deployService rollbackService stopService
    getClusterUsage listCharges listOperations getOperation cancelOperation listEvents listCloudEvents
"""
BY_CLUSTER = frozenset(_BY_CLUSTER.split())
"""What a token that is limited to clusters may request about these. Others are not there for it."""
OF_EVERYBODY = frozenset(
    {
        *("listIpus", "listMachineTypes", "listRegions", "getRegion", "getRegionCapacity", "listFlavors", "getFlavor"),
        *("getRecipe", "listImages", "listEventTypes", "listTools", "listRecipes", "listPrices", "listProofKeys"),
        "getNotifications",
    }
)
"""What it may read as well: the catalogue. Everything else is refused, but for what is `OF_ITSELF`."""

OPEN_TO_ALL = frozenset(
    {
        *("livez", "readyz", "signIn", "listSignInProviders", "beginProviderSignIn", "logIn", "beginDeviceLogin"),
        *("fetchDeviceToken", "showInvitation", "acceptInvitation"),
    }
)
"""Operations without authentication."""
OF_ITSELF = frozenset({"whoami", "getSession", "getMe", "signOut"})
"""What every live token may, whatever its scopes are: it is about the token itself."""

GIVING = frozenset(
    {
        *("createToken", "rotateToken", "createPlatformToken", "rotatePlatformToken", "updateMember"),
        *("createInvitation", "renewInvitation", "createAccountInvitation", "renewAccountInvitation"),
    }
)
"""Operations that give others rights: a narrowed token gives none that it lacks (`tests/api/test_token_scopes.py`)."""

OF_PEOPLE = frozenset(
    {
        *("switchSession", "changePassword", "logOut", "getNotifications", "replaceNotifications", "signSshKey"),
        *("showDeviceLogin", "approveDeviceLogin", "denyDeviceLogin"),
    }
)
"""Operations of people, which a service token of any role is refused as a conflict (`tests/api/test_people.py`)."""
